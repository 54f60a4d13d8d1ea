// Tables for a terminal, drawn by cli-table3. Texts come here measured and without control characters.
import Table, { type CellOptions } from "cli-table3";

/** cli-table3 colours heads and borders itself unless told not to. */
const plain = { head: [], border: [], compact: true };

/** With borders. Cells may have several lines; one that spans columns says so. `widths` are of the columns' content. */
export function gridText(
  head: string[],
  rows: (string | CellOptions)[][],
  columns: { width: number; right: boolean }[],
): string {
  const table = new Table({
    ...(head.some((text) => text !== "") && { head }),
    colWidths: columns.map(({ width }) => width + 2),
    colAligns: columns.map(({ right }) => (right ? "right" : "left")),
    style: plain,
  });
  table.push(...rows);
  return table.toString();
}

const ends = ["top", "bottom"].flatMap((end) => [end, `${end}-mid`, `${end}-left`, `${end}-right`]);
const noBorders = Object.fromEntries([...ends, "left", "right"].map((edge) => [edge, ""]));

/** Lines without borders, in columns two spaces apart; those of `right` hold numbers. */
export function columnLines(rows: string[][], right: readonly number[] = []): string[] {
  if (rows.length === 0) return [];
  const table = new Table({
    chars: { ...noBorders, middle: "  " },
    colAligns: rows[0]!.map((_, at) => (right.includes(at) ? "right" : "left")),
    style: { ...plain, "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}
