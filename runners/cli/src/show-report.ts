// Prints the tables of a benchmark's report; a pipeline without one prints none.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "@mlrb/kit/json-file";

/** `folder` is where the results were laid out. */
export async function showReport(folder: string): Promise<void> {
  const report = join(folder, "report.json");
  if (!existsSync(report)) return;
  const { terminalSection, terminalTable } = await import("@mlrb/report/terminal-table");
  const color = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  const width = process.stdout.columns ?? Number(process.env.COLUMNS ?? 100);
  process.stdout.write(`\n${terminalTable(readJson(report), { width, color })}`);
  const times = join(folder, "times.json");
  if (existsSync(times)) {
    const { timesSection } = await import("@mlrb/report/times");
    process.stdout.write(`\n${terminalSection(timesSection(readJson(times)), { width, color })}`);
  }
}
