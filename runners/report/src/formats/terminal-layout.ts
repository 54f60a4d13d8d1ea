// Lays out one table in a given width. Text columns wrap; numbers never break. A table that is still too wide
// becomes records, with one row for each column.
import { styleText } from "node:util";
import { displayWidth } from "@mlrb/core/text/display-width";
import { gridText } from "@mlrb/core/text/terminal-grid";
import { type Mark, type Table, type TableCell, textCell } from "../sections/table.ts";
import { wrap } from "./terminal-text.ts";

const styles = { strong: "bold", faint: "dim", "crossed-out": "strikethrough", bad: "red" } as const;

/** `text`, coloured if `color` is set. Crossed-out text is marked in both cases. */
export function paint(text: string, mark: Mark | undefined, color: boolean): string {
  const shown = mark === "crossed-out" ? `~${text}~` : text;
  if (!mark || !color || shown === "") return shown;
  return styleText(styles[mark], shown, { validateStream: false });
}

const textMin = 12;

export function layTable(table: Table, look: { width: number; color: boolean }): string {
  const widths = columnWidths(table, look.width);
  if (!widths) return layTable(records(table), look);
  const inner = widths.reduce((sum, each) => sum + each + 3, -3);
  // a crossed-out line gets two more characters
  const lines = ({ lines, mark }: TableCell, width: number) =>
    lines
      .flatMap((line) => wrap(line, width - (mark === "crossed-out" ? 2 : 0)))
      .map((line) => paint(line, mark, look.color))
      .join("\n");
  const rows = table.groups.flatMap((group) => [
    ...(group.title === ""
      ? []
      : [[{ content: lines(textCell(group.title, "strong"), inner), colSpan: widths.length }]]),
    ...group.rows.map((row) => row.map((cell, at) => lines(cell, widths[at]!))),
  ]);
  const head = table.columns.map((column, at) => wrap(column.head, widths[at]!).join("\n"));
  return gridText(
    head,
    rows,
    table.columns.map(({ rigid }, at) => ({ width: widths[at]!, right: rigid })),
  );
}

/** Widths of the columns' content; undefined where they cannot fit. */
function columnWidths(table: Table, width: number): number[] | undefined {
  const rows = table.groups.flatMap((group) => group.rows);
  const widths = table.columns.map(({ head }, at) => {
    const cells = rows.flatMap((row) => row[at]!.lines.map((line) => paint(line, row[at]!.mark, false)));
    return Math.max(...[head, ...cells].map(displayWidth));
  });
  let excess = widths.reduce((sum, each) => sum + each + 3, 1) - width;
  for (; excess > 0; excess -= 1) {
    const shrinkable = widths.map((each, at) => (!table.columns[at]!.rigid && each > textMin ? each : 0));
    const widest = Math.max(...shrinkable);
    if (widest === 0) return undefined;
    widths[shrinkable.indexOf(widest)]! -= 1;
  }
  return widths;
}

/** A row's first cell is the title above its others, each of which follows its column's head. */
function records({ title, columns, groups }: Table): Table {
  const [, ...heads] = columns;
  return {
    title,
    columns: [
      { head: "", rigid: false },
      { head: "", rigid: false },
    ],
    groups: groups.flatMap((group) => [
      { ...group, rows: [] },
      ...group.rows.map(([first, ...cells]) => ({
        ...{ name: group.name, title: first!.lines.join("; ") },
        rows: cells.map((cell, at) => [textCell(heads[at]!.head), cell]),
      })),
    ]),
  };
}
