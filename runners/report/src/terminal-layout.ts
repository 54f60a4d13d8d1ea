// One table in a given width. Text columns give way first, by wrapping; numbers never break. Where even
// that is too wide, the table becomes records, one "head  value" line per column.
import CliTable, { type Cell as CliCell } from "cli-table3";
import type { Mark, Table, TableCell } from "./table.ts";
import { displayWidth, wrap } from "./terminal-text.ts";

const codes: Record<Mark, [number, number]> = {
  strong: [1, 22],
  faint: [2, 22],
  struck: [9, 29],
  bad: [31, 39],
};

/** `text` with colour, or as it is. Struck text is marked either way. */
export function paint(text: string, mark: Mark | undefined, color: boolean): string {
  const marked = mark === "struck" ? `~${text}~` : text;
  if (!mark || !color || text === "") return marked;
  const [on, off] = codes[mark];
  return `\u001b[${on}m${marked}\u001b[${off}m`;
}

const textMin = 12;

export function layTable(table: Table, { width, color }: { width: number; color: boolean }): string {
  const widths = columnWidths(table, width);
  return widths ? grid(table, widths, color) : records(table, { width, color });
}

/** Widths of the columns' content, or nothing where they cannot fit. */
function columnWidths(table: Table, width: number): number[] | undefined {
  const rows = table.groups.flatMap((group) => group.rows);
  const natural = table.columns.map((column, index) =>
    Math.max(...[[column.head], ...rows.map((row) => shown(row[index]!))].flat().map(displayWidth)),
  );
  const room = width - (3 * natural.length + 1);
  const widths = [...natural];
  let excess = natural.reduce((sum, each) => sum + each, 0) - room;
  while (excess > 0) {
    const shrinkable = widths.map((each, index) =>
      !table.columns[index]!.rigid && each > textMin ? each : 0,
    );
    const widest = Math.max(...shrinkable);
    if (widest <= 0) return undefined;
    widths[shrinkable.indexOf(widest)]! -= 1;
    excess -= 1;
  }
  return widths;
}

function grid(table: Table, widths: number[], color: boolean): string {
  const columns = table.columns;
  const cells = new CliTable({
    head: columns.map(({ head }, index) => paint(wrap(head, widths[index]!).join("\n"), undefined, color)),
    colWidths: widths.map((each) => each + 2),
    colAligns: columns.map(({ rigid }) => (rigid ? "right" : "left")),
    style: { head: [], border: [] },
  });
  for (const group of table.groups) {
    let first = true;
    const add = (row: CliCell[]) => {
      // cli-table3 rules off every row; only groups are.
      const chars = first ? {} : noRule;
      cells.push(row.map((cell) => ({ ...(cell as object), chars }) as CliCell));
      first = false;
    };
    const inner = widths.reduce((sum, each) => sum + each + 3, -3);
    if (group.title !== "") {
      const title = wrap(group.title, inner).map((line) => paint(line, "strong", color));
      add([{ content: title.join("\n"), colSpan: columns.length }]);
    }
    for (const row of group.rows) {
      add(row.map((cell, index) => ({ content: lines(cell, widths[index]!, color).join("\n") })));
    }
  }
  return cells.toString();
}

const noRule = { mid: "", "top-mid": "", "left-mid": "", "mid-mid": "", "right-mid": "" };

function lines(cell: TableCell, width: number, color: boolean): string[] {
  return shown(cell)
    .flatMap((line) => wrap(line, width))
    .map((line) => paint(line, cell.mark === "struck" ? undefined : cell.mark, color))
    .map((line) => (cell.mark === "struck" && color ? `\u001b[9m${line}\u001b[29m` : line));
}

/** The lines as they show without colour. */
function shown(cell: TableCell): string[] {
  return cell.mark === "struck" ? cell.lines.map((line) => `~${line}~`) : cell.lines;
}

const headMax = 24;
/** Room for a mean with its interval and coverage. */
const numberWidth = 20;

function records(table: Table, { width, color }: { width: number; color: boolean }): string {
  const out: string[] = [];
  const widest = Math.max(...table.columns.slice(1).map(({ head }) => displayWidth(head)));
  for (const group of table.groups) {
    if (group.title !== "") out.push(...wrap(group.title, width).map((line) => paint(line, "strong", color)));
    for (const row of group.rows) {
      const [first, ...rest] = row;
      out.push(...lines(first!, width - 2, color).map((line) => `  ${line}`));
      const heads = Math.min(headMax, width - numberWidth - 6, widest);
      for (const [index, cell] of rest.entries()) {
        const head = wrap(table.columns[index + 1]!.head, heads);
        const text = lines(
          { ...cell, lines: [cell.lines.join("; ")] },
          Math.max(width - heads - 6, textMin),
          color,
        );
        for (let at = 0; at < Math.max(head.length, text.length); at++) {
          const left = head[at] ?? "";
          out.push(`    ${left}${" ".repeat(heads - displayWidth(left))}  ${text[at] ?? ""}`.trimEnd());
        }
      }
    }
  }
  return out.join("\n");
}
