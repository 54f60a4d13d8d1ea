// Builds a section's tables from rows of data. A column has its head next to what it shows of a row, so that a new
// column of a table is one entry.

import type { Report } from "@mlrb/formats/report";
import { taskTitle } from "./report-words.ts";
import { type Table, type TableCell, textCell } from "./table.ts";

/** A rigid column holds numbers. A plain text is a cell without a mark. */
type ColumnOf<Row> = { head: string; rigid?: boolean; cell: (row: Row) => TableCell | string };

type RowGroup<Row> = { name: string; title: string; rows: Row[] };

/** Groups without a row are left out. */
export function tableOf<Row>(from: {
  title?: string;
  groups: RowGroup<Row>[];
  columns: ColumnOf<Row>[];
}): Table {
  const { title = "", groups, columns } = from;
  return {
    title,
    columns: columns.map(({ head, rigid = false }) => ({ head, rigid })),
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

/** A group of rows for each task, under its title. */
export function taskGroups<Row>(report: Report, rowsOf: (task: string) => Row[]): RowGroup<Row>[] {
  return report.tasks.map(({ name }) => ({ name, title: taskTitle(report, name), rows: rowsOf(name) }));
}

export function oneGroup<Row>(rows: Row[]): RowGroup<Row>[] {
  return [{ name: "", title: "", rows }];
}

/** A column for each agent of the report. */
export function agentColumns<Row>(
  report: Report,
  cell: (row: Row, agent: string) => TableCell | string,
): ColumnOf<Row>[] {
  return report.agents.map(({ name }) => ({ head: name, rigid: true, cell: (row) => cell(row, name) }));
}

/** What a table shows where there is no number. */
export const noNumber = textCell("–", "faint");
