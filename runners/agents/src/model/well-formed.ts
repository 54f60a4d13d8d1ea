// Text that providers and programs take: a lone surrogate makes a request invalid JSON for them, and a null byte
// ends an argument of a program. Both become U+FFFD, the sign for what could not be read.
import type { Json } from "@mlrb/kit/stage";

export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\0", "�");
}

/** The same within a JSON value, keys too. */
export function wellFormedJson(value: Json): Json {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormedJson(inner)]),
  );
}
