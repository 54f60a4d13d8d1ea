// Reads JSON that a provider or a program wrote. Such data is hostile: a missing field or another type is a value
// here, never an exception.
import { quiet } from "@mlrb/kit/processes/process-table";
import type { Json } from "@mlrb/kit/stage";

/** Undefined if `text` is no JSON. */
export function parsedJson(text: string): Json | undefined {
  return quiet(() => JSON.parse(text) as Json);
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

/**
 * A count that a provider reports: null if the field is missing or null, NaN if it holds anything else than a
 * whole number from 0. Sums with NaN stay NaN, so such a report is unknown as a whole.
 */
export function reportedCount(value: Json | undefined, ...path: Path): number | null {
  const found = at(value, ...path) ?? null;
  return found === null ? null : (countAt(found) ?? Number.NaN);
}

/** Whether a field may hold a positive number: false only without the field, for null and for 0. */
export function mayCount(value: Json | undefined, ...path: Path): boolean {
  const found = at(value, ...path) ?? null;
  return found !== null && found !== 0;
}

/** A name that a provider gives: a text, or the JSON of another value; 200 characters at most. Empty without one. */
export function nameAt(value: Json | undefined, ...path: Path): string {
  const found = at(value, ...path) ?? "";
  return (typeof found === "string" ? found : (JSON.stringify(found) ?? "")).slice(0, 200);
}

/**
 * A value and all that it holds, each with its key or index; the value itself has none. Without recursion: hostile
 * JSON is deep. `skips`: names of fields that are left out with all that they hold.
 */
export function* within(
  whole: Json,
  skips: (name: string) => boolean = () => false,
): Generator<[name: string, value: Json]> {
  yield ["", whole];
  const open = [whole];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (skips(name)) continue;
      yield [name, inner];
      open.push(inner);
    }
  }
}

/** Empty if there is no list. */
export function listAt(value: Json | undefined, ...path: Path): Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
