// How a run ends on the screen, whether it did something or had nothing to do.
import { join, relative } from "node:path";
import type { OutcomeKind } from "@mlrb/core/outcome";
import { formatDuration } from "@mlrb/core/units";
import { showReport } from "./show-report.ts";
import { type Spent, spentWords } from "./spent.ts";

export type RunSaid = {
  pipeline: string;
  profile: string;
  counts: Record<OutcomeKind, number>;
  /** Where results were laid out, from the root; absent when none were. */
  results?: string;
  /** What its attempts cost; absent when none ran. */
  spent?: Spent;
  /** With --json, the line of each stage instance. */
  lines: string;
};

export function sayLines({ lines }: RunSaid): void {
  if (lines !== "") process.stdout.write(lines);
}

/** The summary, and for people the tables before it. */
export async function sayEnd(
  said: RunSaid,
  { root, json, durationMs, run }: { root: string; json: boolean; durationMs: number; run?: string },
): Promise<void> {
  const { pipeline, profile, counts, results, spent } = said;
  if (json) {
    const line = {
      event: "summary",
      pipeline,
      profile,
      outcomes: counts,
      durationMs,
      run,
      results,
      estimate: spent,
      // of this program, without what it started
      peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
      cpuMs: Math.round((process.cpuUsage().user + process.cpuUsage().system) / 1000),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return;
  }
  const folder = results === undefined ? undefined : join(root, results);
  if (folder !== undefined) await showReport(folder);
  const parts = (Object.keys(counts) as OutcomeKind[])
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kind}`);
  const did = parts.join(", ") || "nothing to do";
  process.stdout.write(`\n${pipeline} (${profile}): ${did} in ${formatDuration(durationMs)}\n`);
  const cost = spent && spentWords(spent);
  if (cost !== undefined) process.stdout.write(`${cost}\n`);
  if (folder !== undefined) process.stdout.write(`results: ${relative(process.cwd(), folder) || "."}/\n`);
  else if (counts.failed + counts.skipped + counts.cancelled > 0) {
    process.stdout.write(
      "no new results were laid out; those under results/, if any, are of an earlier run\n",
    );
  }
}
