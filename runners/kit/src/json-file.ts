// Writes JSON to disk: keys in code-unit order, so that equal values have equal bytes, and by temporary name, sync
// and rename, so that a reader never sees half a file.
import { fsyncSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { openedFile } from "./files/opened-file.ts";
import { processName } from "./processes/process-name.ts";

/** `value` as JSON text with sorted keys. Throws on NaN and infinities, which JSON would turn into null. */
export function canonicalJson(value: unknown, indent?: number): string {
  const text = textOf("", value);
  // hand-written for speed, since tens of thousands of action keys use it; indented text goes through
  // JSON.stringify
  return indent === undefined || text === undefined
    ? (text as string)
    : JSON.stringify(JSON.parse(text), undefined, indent);
}

/** As JSON.stringify, with sorted keys: undefined for values that JSON lacks. */
function textOf(key: string, value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      if (Number.isFinite(value)) return String(value);
      throw new Error(
        `${key || "value"} is ${value}: not a number that JSON can hold; use a variant that says why`,
      );
    case "object":
      return value === null ? "null" : Array.isArray(value) ? listText(value) : tableText(key, value);
    default:
      return JSON.stringify(value);
  }
}

function listText(list: unknown[]): string {
  return `[${list.map((item, index) => textOf(String(index), item) ?? "null").join(",")}]`;
}

function tableText(key: string, table: object): string | undefined {
  if ("toJSON" in table && typeof table.toJSON === "function") return textOf(key, table.toJSON(key));
  const from = table as Record<string, unknown>;
  const parts: string[] = [];
  for (const name of sortedKeys(from)) {
    const text = textOf(name, from[name]);
    if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}

/** In code-unit order, except that JavaScript puts whole numbers first, by size. */
function sortedKeys(table: Record<string, unknown>): string[] {
  const keys = Object.keys(table).sort();
  return keys.some((key) => /^\d/.test(key))
    ? Object.keys(Object.fromEntries(keys.map((k) => [k, 0])))
    : keys;
}

/** Reads JSON; the caller checks its format. Errors name the file. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}

/**
 * Writes `text` so that `path` holds either its old content or all of `text`. With `sync: false` a power cut may
 * leave a torn file: only for files that are checked when read and can be made again.
 */
export function writeWhole(path: string, text: string, { sync = true }: { sync?: boolean } = {}): void {
  const temporary = `${path}.${processName}.tmp`;
  {
    using file = openedFile(temporary, "w");
    writeFileSync(file.descriptor, text); // one write may write only a part
    if (sync) fsyncSync(file.descriptor);
  }
  renameSync(temporary, path);
}

export function writeJson(path: string, value: unknown): void {
  writeWhole(path, `${canonicalJson(value, 2)}\n`);
}
