// Makes text acceptable to providers and programs: a lone surrogate makes a request invalid JSON, and a null byte
// ends an argument of a program. Both become U+FFFD, the replacement character.
import type { Json } from "@mlrb/kit/stage";

export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\0", "�");
}

/** The same for a JSON value, including its keys. */
export function wellFormedJson(value: Json): Json {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormedJson(inner)]),
  );
}
