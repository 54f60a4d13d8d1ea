// JSON whose numbers keep their text, so that a rebuilt file holds the same values as the original for every
// reader: Python tells 1 from 1.0 and reads whole numbers of any length. Infinity, which Python writes, becomes
// 1e999, which Python reads as infinity.

import { withoutNonNumbers } from "./admission-json.ts";
import { type JsonLimits, scanJson } from "./json-scan.ts";

export type ExactNumber = { readonly rawJSON: string };
export type ExactTable = { [key: string]: Exact };
export type Exact = null | boolean | string | ExactNumber | Exact[] | ExactTable;

// not in TypeScript's library yet
const { rawJSON, isRawJSON, parse } = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
  parse(text: string, revive: (key: string, value: unknown, of: { source?: string }) => unknown): Exact;
};

export const isExactNumber = isRawJSON;
const notANumber = "1e9999";
const numbers: Record<string, string> = { Infinity: "1e999", "-Infinity": "-1e999", NaN: notANumber };

export function isExactTable(value: Exact): value is ExactTable {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !isRawJSON(value);
}

export function isNotANumber(value: ExactNumber): boolean {
  return value.rawJSON === notANumber;
}

/** Undefined for what `strictJson` refuses. */
export function exactJson(bytes: Uint8Array, limits: JsonLimits): Exact | undefined {
  const scan = scanJson(bytes, limits);
  if (scan.kind === "malformed") return undefined;
  const text = withoutNonNumbers(bytes, scan, (name) => numbers[name]!);
  return parse(text, (_, value, { source }) =>
    typeof value === "number" ? rawJSON(source!) : numberOfTable(value as Exact),
  );
}

/** transformers 5 writes infinity as `{"__float__": "Infinity"}`. */
function numberOfTable(value: Exact): Exact {
  if (!isExactTable(value) || !Object.hasOwn(value, "__float__") || Object.keys(value).length > 1)
    return value;
  const { __float__: name } = value as ExactTable;
  return typeof name === "string" && Object.hasOwn(numbers, name) ? rawJSON(numbers[name]!) : value;
}

/** As JSON.stringify with an indent of 2. */
export function exactText(value: Exact): string {
  return JSON.stringify(value, undefined, 2);
}
