// One line of CSV after RFC 4180, for files that people open in spreadsheets.
import { plainText } from "../read/plain-text.ts";

/** Enough for several rules with their evidence. */
const textMax = 2000;

/** Numbers in full, an empty field for null, texts on one line that cannot become formulas. Ends with CRLF. */
export function csvLine(values: readonly (string | number | boolean | null)[]): string {
  return `${values.map(field).join(",")}\r\n`;
}

const formula = "[=+\\-@＝＋－＠]";
/** A spreadsheet may run a cell that begins like a formula, also in full-width characters. */
const atStart = new RegExp(`^["'\\s]*${formula}`);
/** Where a spreadsheet splits lines at another separator than the comma, its cell begins after that separator. */
const afterSeparator = new RegExp(`([;|]["'\\s]*)(?=${formula})`, "g");

function field(value: string | number | boolean | null): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const plain = plainText(value, textMax).replace(afterSeparator, "$1'");
  const safe = atStart.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
