// Reads JSON that a provider or a program wrote. Such data is hostile: a missing field or another type is a value
// here, never an exception.
import type { Json } from "@mlrb/kit/stage";

/** Undefined if `text` is no JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

type Path = (string | number)[];

/** The value at a path of keys and indices; undefined if there is none. */
export function at(value: Json | undefined, ...path: Path): Json | undefined {
  let here: Json | undefined = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = Object.hasOwn(here, key) ? (here as Record<string | number, Json>)[key] : undefined;
  }
  return here;
}

/** Empty if there is no text. */
export function textAt(value: Json | undefined, ...path: Path): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** null if there is no whole number from 0. */
export function countAt(value: Json | undefined, ...path: Path): number | null {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}

/** Empty if there is no list. */
export function listAt(value: Json | undefined, ...path: Path): Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
