// Lays out one table in a given width. Text columns wrap; numbers never break. A table that is still too wide becomes
// records, with one "head  value" line for each column.
import { styleText } from "node:util";
import { displayWidth } from "@mlrb/core/text/display-width";
import type { Mark, Table, TableCell } from "../sections/table.ts";
import { wrap } from "./terminal-text.ts";

const styles = { strong: "bold", faint: "dim", struck: "strikethrough", bad: "red" } as const;

/** `text`, coloured if `color` is set. Struck-through text is marked in both cases. */
export function paint(text: string, mark: Mark | undefined, color: boolean): string {
  return colored(mark === "struck" ? `~${text}~` : text, mark, color);
}

function colored(text: string, mark: Mark | undefined, color: boolean): string {
  if (!mark || !color || text === "") return text;
  return styleText(styles[mark], text, { validateStream: false });
}

const textMin = 12;

export function layTable(table: Table, { width, color }: { width: number; color: boolean }): string {
  const widths = columnWidths(table, width);
  return widths ? grid(table, widths, color) : records(table, { width, color });
}

/** Widths of the columns' content; undefined where they cannot fit. */
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

/** A line between rows; `above` and `below` tell what it separates. */
type Edge = { above?: "cells" | "title"; below?: "cells" | "title" };

/** Rules only between groups: a rule below each row doubles the height of a long table. */
function grid(table: Table, widths: number[], color: boolean): string {
  const { columns } = table;
  const inner = widths.reduce((sum, each) => sum + each + 3, -3);
  const head = columns.map(({ head: text }, index) => ({ lines: wrap(text, widths[index]!) }));
  const out = [rule({ below: "cells" }, widths), ...gridRow(head, { columns, widths, color })];
  let above: Edge["above"] = "cells";
  for (const { title, rows } of table.groups) {
    if (title === "" && rows.length === 0) continue;
    out.push(rule({ above, below: title === "" ? "cells" : "title" }, widths));
    for (const line of title === "" ? [] : wrap(title, inner))
      out.push(`│ ${aligned(line, { width: inner, mark: "strong", color })} │`);
    for (const row of rows) {
      const cells = row.map((cell, index) => ({ ...cell, lines: lines(cell, widths[index]!) }));
      out.push(...gridRow(cells, { columns, widths, color }));
    }
    above = rows.length > 0 ? "cells" : "title";
  }
  return [...out, rule({ above }, widths)].join("\n");
}

function rule({ above, below }: Edge, widths: number[]): string {
  const ends = !above ? "┌┐" : !below ? "└┘" : "├┤";
  const joint = above === "cells" ? (below === "cells" ? "┼" : "┴") : below === "cells" ? "┬" : "─";
  return `${ends[0]}${widths.map((width) => "─".repeat(width + 2)).join(joint)}${ends[1]}`;
}

function gridRow(
  cells: TableCell[],
  { columns, widths, color }: { columns: Table["columns"]; widths: number[]; color: boolean },
): string[] {
  return Array.from({ length: Math.max(...cells.map((cell) => cell.lines.length)) }, (_, at) => {
    const texts = cells.map((cell, index) => {
      const look = { width: widths[index]!, right: columns[index]!.rigid, mark: cell.mark, color };
      return aligned(cell.lines[at] ?? "", look);
    });
    return `│ ${texts.join(" │ ")} │`;
  });
}

type Look = { width: number; right?: boolean; mark: Mark | undefined; color: boolean };

function aligned(text: string, { width, right = false, mark, color }: Look): string {
  const gap = " ".repeat(width - displayWidth(text));
  const shownText = colored(text, mark, color);
  return right ? gap + shownText : shownText + gap;
}

/** The lines as they show in a column, without colour. */
function lines(cell: TableCell, width: number): string[] {
  return shown(cell).flatMap((line) => wrap(line, width));
}

/** Struck-through text is marked without colour too. */
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
      out.push(...lines(first!, width - 2).map((line) => `  ${colored(line, first!.mark, color)}`));
      const heads = Math.min(headMax, width - numberWidth - 6, widest);
      for (const [index, cell] of rest.entries()) {
        const head = wrap(table.columns[index + 1]!.head, heads);
        const joined = { ...cell, lines: [cell.lines.join("; ")] };
        const text = lines(joined, Math.max(width - heads - 6, textMin));
        for (let at = 0; at < Math.max(head.length, text.length); at++) {
          const left = head[at] ?? "";
          out.push(
            `    ${left}${" ".repeat(heads - displayWidth(left))}  ${colored(text[at] ?? "", cell.mark, color)}`.trimEnd(),
          );
        }
      }
    }
  }
  return out.join("\n");
}
