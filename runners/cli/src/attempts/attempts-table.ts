// The records of `attempts list` as rows with a header. Columns that do not fit a terminal are left out, the cost last.
// Pure: the width is an argument.
import { displayWidth } from "@mlrb/core/text/display-width";
import { columnLines } from "@mlrb/core/text/terminal-grid";
import { formatDuration } from "@mlrb/core/text/units";
import { oneLine } from "../show/print.ts";

export type AttemptRow = {
  digest: string;
  startedAt: string;
  durationMs: number;
  /** How the agent ended; null without a ledger. */
  ended: string | null;
  /** Whether it called a model: an amount that is not known is then `unknown`, else `-`. */
  usedModel: boolean;
  tokens: number | null;
  gpuHours: number | null;
  dollars: number | null;
  /** `hello (smoke)` */
  slot: string;
  stage: string;
  /** What is unusual: its verdict, its origin, what people did. */
  standing: string;
};

/** From wide to narrow; the first that fits is used. */
const layouts = [
  ["record", "started (UTC)", "time", "ended", "tokens", "GPU hours", "dollars", "pipeline", "attempt"],
  ["record", "started (UTC)", "time", "dollars", "pipeline", "attempt"],
  ["record", "dollars", "pipeline", "attempt"],
] as const;
type Column = (typeof layouts)[0][number];
const numeric: readonly Column[] = ["time", "tokens", "GPU hours", "dollars"];

/** A header and a line for each row; empty without rows. */
export function attemptsTable(rows: AttemptRow[], width: number): string[] {
  if (rows.length === 0) return [];
  const tables = layouts.map((columns) => lines(rows, columns));
  const fitting = tables.find((table) => table.every((line) => displayWidth(line) <= width));
  return fitting ?? tables.at(-1)!;
}

function lines(rows: AttemptRow[], columns: readonly Column[]): string[] {
  return columnLines(
    [
      [...columns, ""],
      ...rows.map((row) => [...columns.map((column) => cell(row, column)), row.standing].map(oneLine)),
    ],
    numeric.map((column) => columns.indexOf(column)),
  );
}

function cell(row: AttemptRow, column: Column): string {
  const amount = (value: number | null, text: (known: number) => string) =>
    value === null ? (row.usedModel ? "unknown" : "-") : text(value);
  switch (column) {
    case "record":
      return row.digest.slice(0, 12);
    case "started (UTC)":
      return row.startedAt.slice(0, 16).replace("T", " ");
    case "time":
      return formatDuration(row.durationMs);
    case "ended":
      return row.ended ?? "-";
    case "tokens":
      return amount(row.tokens, String);
    case "GPU hours":
      return row.gpuHours === null ? "unknown" : row.gpuHours.toFixed(1);
    case "dollars":
      return amount(row.dollars, (value) => value.toFixed(2));
    case "pipeline":
      return row.slot;
    case "attempt":
      return row.stage;
  }
}
