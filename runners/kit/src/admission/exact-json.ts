// JSON whose numbers keep their text, so that a rebuilt file holds the same values as the original for every reader:
// Python tells 1 from 1.0 and reads whole numbers of any length. Infinity, which Python writes, becomes 1e999, which
// Python reads as infinity.

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

export function isExactTable(value: Exact): value is ExactTable {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !isRawJSON(value);
}

export function isNotANumber(value: ExactNumber): boolean {
  return value.rawJSON === notANumber;
}

/** Throws for text that `strictJson` refuses. */
export function parseExact(text: string): Exact {
  return parse(withoutNonNumbers(text), (_, value, { source }) =>
    typeof value === "number" ? rawJSON(source!) : numberOfTable(value as Exact),
  );
}

/** transformers 5 writes infinity as `{"__float__": "Infinity"}`. */
function numberOfTable(value: Exact): Exact {
  if (!isExactTable(value) || !Object.hasOwn(value, "__float__") || Object.keys(value).length > 1)
    return value;
  const numbers: Record<string, string> = { Infinity: "1e999", "-Infinity": "-1e999", NaN: notANumber };
  const { __float__: name } = value as ExactTable;
  return typeof name === "string" && Object.hasOwn(numbers, name) ? rawJSON(numbers[name]!) : value;
}

/** As JSON.stringify with an indent of 2. */
export function exactText(value: Exact): string {
  return JSON.stringify(value, undefined, 2);
}

function withoutNonNumbers(text: string): string {
  if (!/NaN|Infinity/.test(text)) return text;
  let clean = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '"') quoted = !quoted;
    if (quoted && sign === "\\") clean += sign + text[++at];
    else if (!quoted && sign === "N") {
      clean += notANumber;
      at += "NaN".length - 1;
    } else if (!quoted && sign === "I") {
      clean += "1e999";
      at += "Infinity".length - 1;
    } else clean += sign;
  }
  return clean;
}
