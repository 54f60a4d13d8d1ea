// The records of `attempts list` as rows with a header. Columns that do not fit a terminal are left out, the cost
// last. Pure: the width is an argument.
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

/** What each column shows. */
const cells = {
  record: ({ digest }) => digest.slice(0, 12),
  "started (UTC)": ({ startedAt }) => startedAt.slice(0, 16).replace("T", " "),
  time: ({ durationMs }) => formatDuration(durationMs),
  ended: ({ ended }) => ended ?? "-",
  tokens: (row) => amount(row, row.tokens, String),
  "GPU hours": ({ gpuHours }) => (gpuHours === null ? "unknown" : gpuHours.toFixed(1)),
  dollars: (row) => amount(row, row.dollars, (value) => value.toFixed(2)),
  pipeline: ({ slot }) => slot,
  attempt: ({ stage }) => stage,
} satisfies Record<string, (row: AttemptRow) => string>;

type Column = keyof typeof cells;

/** From wide to narrow; the first that fits is used. */
const layouts: Column[][] = [
  Object.keys(cells) as Column[],
  ["record", "started (UTC)", "time", "dollars", "pipeline", "attempt"],
  ["record", "dollars", "pipeline", "attempt"],
];
const numeric: Column[] = ["time", "tokens", "GPU hours", "dollars"];

/** A header and a line for each row; empty without rows. */
export function attemptsTable(rows: AttemptRow[], width: number): string[] {
  if (rows.length === 0) return [];
  const tables = layouts.map((columns) => lines(rows, columns));
  const fitting = tables.find((table) => table.every((line) => displayWidth(line) <= width));
  return fitting ?? tables.at(-1)!;
}

function lines(rows: AttemptRow[], columns: Column[]): string[] {
  const shown = rows.map((row) =>
    [...columns.map((column) => cells[column](row)), row.standing].map(oneLine),
  );
  return columnLines(
    [[...columns, ""], ...shown],
    numeric.map((column) => columns.indexOf(column)),
  );
}

function amount({ usedModel }: AttemptRow, value: number | null, text: (known: number) => string): string {
  return value === null ? (usedModel ? "unknown" : "-") : text(value);
}
