// Builds a section's tables from rows of data. A column has its head next to what it shows of a row, so that a new
// column of a table is one entry.

import type { Report } from "@mlrb/formats/report";
import { taskTitle } from "./report-words.ts";
import { type Column, type Item, type Section, type Table, type TableCell, textCell } from "./table.ts";

/** A plain text is a cell without a mark. */
type CellOf<Row> = (row: Row) => TableCell | string;
type ColumnOf<Row> = Column & { cell: CellOf<Row> };

export function column<Row>(head: string, cell: CellOf<Row>): ColumnOf<Row> {
  return { head, rigid: false, cell };
}

/** A column of numbers. */
export function numeric<Row>(head: string, cell: CellOf<Row>): ColumnOf<Row> {
  return { head, rigid: true, cell };
}

type RowGroup<Row> = { name: string; title: string; rows: Row[] };

/** Groups without a row are left out. `title`: empty for the only table of a section. */
export function tableOf<Row>(title: string, groups: RowGroup<Row>[], columns: ColumnOf<Row>[]): Table {
  return {
    title,
    columns: columns.map(({ head, rigid }) => ({ head, rigid })),
    groups: groups
      .filter(({ rows }) => rows.length > 0)
      .map(({ rows, ...group }) => ({
        ...group,
        rows: rows.map((row) =>
          columns.map(({ cell }) => {
            const made = cell(row);
            return typeof made === "string" ? textCell(made) : made;
          }),
        ),
      })),
  };
}

/** A section with one table, and below it `items`. */
export function tableSection<Row>(
  about: Pick<Section, "heading" | "caption">,
  groups: RowGroup<Row>[],
  columns: ColumnOf<Row>[],
  items: Item[] = [],
): Section {
  return { ...about, tables: [tableOf("", groups, columns)], items };
}

/** A group of rows for each task, under its title. */
export function taskGroups<Row>(report: Report, rowsOf: (task: string) => Row[]): RowGroup<Row>[] {
  return report.tasks.map(({ name }) => ({ name, title: taskTitle(report, name), rows: rowsOf(name) }));
}

/** The same for rows that name their task. */
export function byTask<Row extends { task: string }>(report: Report, rows: readonly Row[]): RowGroup<Row>[] {
  return taskGroups(report, (name) => rows.filter(({ task }) => task === name));
}

export function oneGroup<Row>(rows: Row[]): RowGroup<Row>[] {
  return [{ name: "", title: "", rows }];
}

/** A column for each agent of the report. */
export function agentColumns<Row>(
  report: Report,
  cell: (row: Row, agent: string) => TableCell | string,
): ColumnOf<Row>[] {
  return report.agents.map(({ name }) => numeric(name, (row) => cell(row, name)));
}

/** What a table shows where there is no number. */
export const noNumber = textCell("–", "faint");
