// Parses the body of a program's request so that gateway and provider read the same: UTF-8, no key twice in an
// object, bounded depth. Numbers that JavaScript would change are kept as they are written. Pure.
import { strictJson } from "@mlrb/kit/admission/admission-json";
import type { Json } from "@mlrb/kit/stage";

/** TypeScript's library does not declare them yet. */
const rawNumbers = JSON as JSON & { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

export type RequestJson = { value: Json } | { malformed: string };

/** Bodies have at most 32 MiB (request-bodies.ts). */
const limits = {
  depth: { max: 100, unit: "levels of nesting", honest: "OpenAI allows 10 levels in the schemas of tools" },
  values: { max: 2_000_000, unit: "values", honest: "a long conversation has under 100 000" },
  text: { max: 32 << 20, unit: "bytes in one text", honest: "an image has a few million" },
};

/** May be a number that a double does not hold, or a word that JSON lacks. */
const suspicious = /\d{16}|\d[eE][+-]?\d|NaN|Infinity/u;

export function requestJson(bytes: Uint8Array): RequestJson {
  const parsed = strictJson(bytes, limits);
  if (parsed.kind === "malformed") return { malformed: parsed.reason };
  const text = Buffer.from(bytes).toString("utf8");
  if (!suspicious.test(text)) return { value: parsed.value as Json };
  try {
    return { value: JSON.parse(text, exact) as Json };
  } catch {
    return { malformed: "not JSON" }; // NaN, which strictJson takes for null
  }
}

/** `JSON.stringify` writes the result as the number was written. */
function exact(_: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  const whole = /^-?\d+$/u.test(source);
  const same = Number.isFinite(value) && (!whole || BigInt(source) === BigInt(value));
  return same ? value : rawNumbers.rawJSON(source);
}

/** Undefined unless it is a number. One that is kept as it is written is rounded here. */
export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === "number") return value;
  return rawNumbers.isRawJSON(value) ? Number((value as { rawJSON: string }).rawJSON) : undefined;
}

/** Neither null, nor a list, nor a number that is kept as it is written. */
export function isObject(value: Json | undefined): value is Record<string, Json> {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !rawNumbers.isRawJSON(value);
}
