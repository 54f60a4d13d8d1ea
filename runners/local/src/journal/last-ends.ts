// Finds how stage instances ended in their last run, with failures, for display: the cache holds successes only.
// Reads the journals, newest first, until each instance is found. No decision uses the result.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Reason } from "@mlrb/core/key/reasons";
import type { Outcome } from "@mlrb/core/ports/outcome";
import { readFrom } from "@mlrb/kit/files/read-from";
import { ifReadable } from "../store/if-readable.ts";
import { journalLines } from "./journal-lines.ts";

export type LastEnd = { outcome: Outcome; time: string; reasons: Reason[] };

/** The number of runs of the pipeline that are searched: older failures are not relevant. */
const runsMax = 50;

/** The number of journals that are opened for this search. */
const openedMax = 500;

export type EndsQuery = { pipeline: string; profile: string; wanted: Iterable<string> };

/** The ends of instances among `wanted`. Skipped and cancelled ones were not carried out and have no end. */
export function lastEnds(journals: string, asked: EndsQuery): Map<string, LastEnd> {
  return endsWhere(journals, asked, ({ kind }) => kind !== "skipped" && kind !== "cancelled");
}

/** The newest end of each instance for which `counts` is true. */
export function endsWhere(
  journals: string,
  { pipeline, profile, wanted }: EndsQuery,
  counts: (outcome: Outcome) => boolean,
): Map<string, LastEnd> {
  const left = new Set(wanted);
  const found = new Map<string, LastEnd>();
  if (left.size === 0) return found;
  for (const name of newestRuns(journals, { pipeline, profile })) {
    for (const line of journalLines(join(journals, name)).reverse()) {
      const { event, stage, time, outcome, reasons } = line as typeof line & Partial<LastEnd>;
      if (event !== "stage" || stage === undefined || time === undefined || !outcome || !left.has(stage))
        continue;
      if (!counts(outcome)) continue;
      found.set(stage, { outcome, time, reasons: reasons ?? [] });
      left.delete(stage);
    }
    if (left.size === 0) break;
  }
  return found;
}

type OfRun = { pipeline: string; profile: string };

/** The names of the newest runs of a pipeline and profile, newest first; at most `runsMax`. */
export function recentRuns(journals: string, of: OfRun): string[] {
  return [...newestRuns(journals, of)].map((name) => name.replace(/\.jsonl$/, ""));
}

/** Their journals, newest first: a journal's name begins with the start time of its run. */
function* newestRuns(journals: string, { pipeline, profile }: OfRun): Generator<string> {
  const names = readdirSync(journals).filter((name) => /^\d{8}T.*\.jsonl$/.test(name));
  let runs = 0;
  for (const name of names.sort().reverse().slice(0, openedMax)) {
    const begun = firstLine(join(journals, name));
    if (begun?.pipeline !== pipeline || begun.profile !== profile) continue;
    yield name;
    if (++runs === runsMax) return;
  }
}

/** Undefined where a kill tore the line, or the journal was removed meanwhile. */
function firstLine(path: string): { pipeline?: string; profile?: string } | undefined {
  return ifReadable(() => JSON.parse(String(readFrom(path, 0, 4096)).split("\n", 1)[0]!));
}
