// Artifacts are read as if a stranger had written them: a wrong field is a value with its cause, so that
// one bad file costs one entry of the report. Small checks by hand, since their words reach the tables.
import { plainText } from "./plain-text.ts";

export type Parsed<T> = { kind: "ok"; value: T } | { kind: "unreadable"; cause: string };

/** Thrown by the checks below and caught by `parsed` alone. */
class Malformed extends Error {}

/** Runs `read`; a failed check becomes its cause. */
export function parsed<T>(read: () => T): Parsed<T> {
  try {
    return { kind: "ok", value: read() };
  } catch (error) {
    if (error instanceof Malformed) return { kind: "unreadable", cause: error.message };
    throw error;
  }
}

export type Fields = Record<string, unknown>;

export function malformed(cause: string): never {
  throw new Malformed(plainText(cause));
}

/** `text` as a JSON object of format 1, if `formatted`. */
export function parseObject(text: string, formatted = true): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    malformed(`not JSON: ${(error as Error).message}`);
  }
  const fields = asObject(value, "the file");
  if (formatted && fields.formatVersion !== 1) {
    malformed(`formatVersion is ${show(fields.formatVersion)}, not 1`);
  }
  return fields;
}

export function asObject(value: unknown, what: string): Fields {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    malformed(`${what} is ${show(value)}, not an object`);
  }
  return value as Fields;
}

export function asArray(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : malformed(`${what} is ${show(value)}, not a list`);
}

/** Text made plain, see plainText. */
export function asText(value: unknown, what: string): string {
  return typeof value === "string" ? plainText(value) : malformed(`${what} is ${show(value)}, not a text`);
}

/** A finite number: 1e999 is valid JSON and reads as infinity. */
export function asNumber(value: unknown, what: string, min = Number.NEGATIVE_INFINITY): number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    malformed(`${what} is ${show(value)}, not a finite number`);
  }
  return value >= min ? value : malformed(`${what} is ${value}, less than ${min}`);
}

export function asOneOf<const T extends string>(value: unknown, what: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === value);
  return found ?? malformed(`${what} is ${show(value)}, not one of ${allowed.join(", ")}`);
}

/** A table of any values by name; own keys only, so `__proto__` is a name like any other. */
export function asTable<T>(
  value: unknown,
  what: string,
  entry: (value: unknown, what: string) => T,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(asObject(value, what)).map(([name, each]) => [
      plainText(name, 80),
      entry(each, `${what}.${plainText(name, 80)}`),
    ]),
  );
}

function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (value !== null && typeof value === "object") return "an object";
  return typeof value === "string" ? `"${plainText(value, 40)}"` : String(value);
}
