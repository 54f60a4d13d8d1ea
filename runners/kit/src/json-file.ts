// JSON as it goes to disk: keys in code-unit order, so that equal values are equal bytes, and
// by temporary name, sync and rename, so that a reader never sees half a file.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";

/** `value` as JSON text with sorted keys. Throws on NaN and infinities, which JSON would turn into null. */
export function canonicalJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, sorted, indent);
}

function sorted(key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Error(
      `${key || "value"} is ${value}: not a number that JSON can hold; use a variant that says why`,
    );
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const from = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(from)
      .sort()
      .map((name) => [name, from[name]]),
  );
}

/** Reads JSON; the error names the file. */
export function readJson<T>(path: string): T {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as T;
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}

/**
 * Writes `text` so that `path` holds either what it held or all of `text`. With `sync: false` a power cut
 * may leave a torn file: for what is checked when it is read, and can be made again.
 */
export function writeWhole(path: string, text: string, { sync = true }: { sync?: boolean } = {}): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, "w");
  try {
    writeSync(file, text);
    if (sync) fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

export function writeJson(path: string, value: unknown): void {
  writeWhole(path, `${canonicalJson(value, 2)}\n`);
}
