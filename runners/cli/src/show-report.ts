// Prints the tables of a benchmark's report; a pipeline without one prints none.
import { existsSync } from "node:fs";
import { readJson } from "@mlrb/kit/json-file";

export async function showReport(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const { terminalTable } = await import("@mlrb/report/terminal-table");
  const color = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  const width = process.stdout.columns ?? Number(process.env.COLUMNS ?? 100);
  process.stdout.write(`\n${terminalTable(readJson(path), { width, color })}\n`);
}
