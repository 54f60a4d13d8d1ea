// Prints the end of a run, also of one that had nothing to do.
import { join, relative } from "node:path";
import type { OutcomeKind } from "@mlrb/core/ports/outcome";
import type { ServiceTotal } from "@mlrb/local/services/service-hours";
import type { RescoredRun } from "../against/rescored-run.ts";
import type { Trouble } from "../attempts/troubles.ts";
import { type Spent, spentWords } from "../gates/spent.ts";
import { printJson } from "../show/print.ts";
import { showReport } from "../show/show-report.ts";
import { afterRun, type TypedRun } from "./after-run.ts";
import type { Failure } from "./closing.ts";

export type RunSummary = {
  pipeline: string;
  profile: string;
  counts: Record<OutcomeKind, number>;
  /** The folder of the published results, from the root; absent without any. */
  results?: string;
  /** What its attempts cost; absent if none ran. */
  spent?: Spent;
  /** How scores of unchanged submissions changed; absent if none did. */
  rescored?: RescoredRun;
  /** What its services ran; absent if none did. */
  services?: ServiceTotal[];
  /** Whether its report and its times follow their formats. */
  checked?: boolean;
  /** With --json, the line of each stage instance. */
  lines: string;
};

type End = {
  root: string;
  json: boolean;
  durationMs: number;
  asked: TypedRun;
  run?: string;
  failures?: Failure[];
  troubles?: Trouble[];
  /** Attempts that were left stale. */
  leftStale?: number;
  /** The lines about services. */
  services?: string[];
};

/** Prints the main table and then the summary. Returns whether the files of the tables follow their formats. */
export async function printEnd(said: RunSummary, end: End): Promise<boolean> {
  if (end.json) {
    for (const one of end.troubles ?? []) printJson({ event: "trouble", ...one });
    printSummary(said, end);
    return false;
  }
  const { pipeline, profile, counts, results, spent, rescored, checked = false } = said;
  const { root, durationMs, asked, failures = [], troubles = [], leftStale = 0, services = [] } = end;
  const folder = results === undefined ? undefined : join(root, results);
  const shown = folder === undefined ? undefined : await showReport(folder, { checked, main: true });
  const report = shown?.report;
  const { closing } = await import("./closing.ts");
  const text = closing(
    {
      ...{ pipeline, profile, counts, durationMs, failures, troubles, services },
      coverage: report && (await import("@mlrb/report/sections/sections")).coverageLine(report),
      rescored: rescored?.text,
      cost: spent && spentWords(spent),
      results: folder === undefined ? undefined : relative(process.cwd(), folder) || ".",
      next: afterRun(
        { counts, leftStale, published: folder !== undefined, report, rescoredSince: rescored?.since },
        asked,
      ),
    },
    screenSize(),
  );
  process.stdout.write(text);
  return shown?.followed ?? false;
}

/** At most 24 rows, so that the text fits any terminal without scrolling. */
function screenSize(): { columns: number; rows: number } | undefined {
  const { isTTY, columns, rows } = process.stdout;
  return isTTY ? { columns: columns || 80, rows: Math.min(24, rows || 24) } : undefined;
}

function printSummary(
  { pipeline, profile, counts, results, spent, rescored, services }: RunSummary,
  { durationMs, run }: End,
): void {
  printJson({
    ...{ event: "summary", pipeline, profile, outcomes: counts, durationMs, run, results, rescored },
    ...{ estimate: spent, services },
    // of this process, without its children
    peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
    cpuMs: Math.round((process.cpuUsage().user + process.cpuUsage().system) / 1000),
  });
}
