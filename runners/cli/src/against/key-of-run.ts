// The action keys of an earlier run, from its journal: which stage instance had which key. For comparisons; no
// decision uses them.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { journalLines } from "@mlrb/local/journal/journal-lines";
import { recentRuns } from "@mlrb/local/journal/last-ends";

/** A run's journal; `keys` by stage instance, of those that succeeded or were reused. */
export type JournalOfRun = NonNullable<ReturnType<typeof journalOfRun>>;

/** Undefined if `run` is no name of a run here. */
export function journalOfRun(journals: string, run: string) {
  const path = join(journals, `${run}.jsonl`);
  if (run !== basename(run) || !existsSync(path)) return undefined;
  const lines = journalLines(path);
  const { pipeline = "", profile = "", selection = "" } = lines.find(({ event }) => event === "begin") ?? {};
  const keys = new Map<string, string>();
  for (const line of lines) {
    const { event, stage, key, outcome } = line as typeof line & { outcome?: { kind?: string } };
    const succeeded = outcome?.kind === "succeeded" || outcome?.kind === "reused";
    if (event === "stage" && stage !== undefined && key !== undefined && succeeded) keys.set(stage, key);
  }
  return { run, pipeline, profile, selection, keys };
}

/** The newest runs of a pipeline and profile that made or reused a result of one of `stages`, newest first. */
export function runsWith(
  journals: string,
  { pipeline, profile, stages, most }: { pipeline: string; profile: string; stages: string[]; most: number },
): JournalOfRun[] {
  const found: JournalOfRun[] = [];
  for (const name of recentRuns(journals, { pipeline, profile })) {
    if (found.length === most) break;
    const run = journalOfRun(journals, name);
    if (run && stages.some((stage) => run.keys.has(stage))) found.push(run);
  }
  return found;
}
