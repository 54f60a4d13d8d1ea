// Whether the value of a setting is plain data: numbers, flags, and words that cannot name a file or a repository.
import { clip } from "./clip.ts";
import { type Exact, isExactNumber, isNotANumber } from "./exact-json.ts";
import type { SettingKind } from "./settings-table.ts";

const depthMax = 5;
const wordMax = 128;
const digitsMax = 40;

/** mistyped: plain data of another type than this version of transformers reads. */
export type SettingTrouble = { kind: "undecided" | "mistyped" | "rejected"; detail: string };

/** Undefined for a good value. */
export function settingTrouble(value: Exact, kind: SettingKind, depth = 0): SettingTrouble | undefined {
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string") return textTrouble(value, kind);
  if (isExactNumber(value)) {
    if (isNotANumber(value)) return { kind: "undecided", detail: "is NaN" };
    if (value.rawJSON.length <= digitsMax) return undefined;
    return rejected(`is a number of ${value.rawJSON.length} digits; at most ${digitsMax} are read`);
  }
  if (depth === depthMax) return rejected(`is nested deeper than ${depthMax}`);
  if (Array.isArray(value)) return firstTrouble(value, kind, depth);
  if (kind !== "table" && holdsOnlyWords(value))
    return { kind: "mistyped", detail: "is a table, which this setting never is" };
  for (const [key, inner] of Object.entries(value)) {
    const trouble = textTrouble(key, "text") ?? settingTrouble(inner, kind, depth + 1);
    if (trouble) return trouble;
  }
  return undefined;
}

function firstTrouble(list: Exact[], kind: SettingKind, depth: number): SettingTrouble | undefined {
  for (const item of list) {
    const trouble = settingTrouble(item, kind, depth + 1);
    if (trouble) return trouble;
  }
  return undefined;
}

function textTrouble(text: string, kind: SettingKind): SettingTrouble | undefined {
  if (!isWord(text)) return rejected(`is ${clip(text)}; a word that names no file or repository is expected`);
  return kind === "number"
    ? { kind: "mistyped", detail: `is ${clip(text)}; a number is expected` }
    : undefined;
}

function rejected(detail: string): SettingTrouble {
  return { kind: "rejected", detail };
}

/** A short text without the marks of a path, a URL or `organization/repository`. */
function isWord(text: string): boolean {
  return text.length <= wordMax && !/^[.~]|[/\\:%\u0000-\u001f\u007f]/.test(text);
}

/** Whether every text in `value`, at any depth, is a word. */
export function holdsOnlyWords(value: unknown): boolean {
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === "string" && !isWord(next)) return false;
    if (next !== null && typeof next === "object")
      for (const inner of Object.values(next)) pending.push(inner);
  }
  return true;
}
