// The state of a stage instance in one word. `status` and `graph` share it, so that table and drawing agree.
// Pure: no disk, no clock.
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { Preview } from "@mlrb/local/decide/preview-plan";

export const states = ["upToDate", "running", "failed", "stale", "uncertain", "neverRun"] as const;

/**
 * upToDate: a run would reuse it. failed: it would run, and its last run failed. stale: its result was made from
 * other inputs than today's. uncertain: stale, unless its inputs come out the same again. neverRun: it has no
 * result in this pipeline and profile.
 */
export type InstanceState = (typeof states)[number];

export const stateWords: Record<InstanceState, string> = {
  upToDate: "up to date",
  running: "running",
  failed: "failed",
  stale: "stale",
  uncertain: "uncertain",
  neverRun: "never run",
};

export type Known = {
  preview: Pick<Preview, "action" | "certain">;
  running: boolean;
  /** Whether it ever gave a result here that counted for this pipeline and profile. */
  succeeded: boolean;
  /** The outcome of its last execution; undefined if no journal has it. */
  lastEnd?: Outcome | undefined;
};

export function instanceState({ preview, running, succeeded, lastEnd }: Known): InstanceState {
  if (running) return "running";
  if (preview.action === "reuse") return "upToDate";
  if (lastEnd?.kind === "failed") return "failed";
  if (preview.action === "stale") return "stale";
  if (!succeeded) return "neverRun";
  return preview.certain ? "stale" : "uncertain";
}

export type StateCounts = Record<InstanceState, number>;

/** `3 up to date`, `1 failed`; without states of count 0. */
export function stateWordsOf(counts: StateCounts): string[] {
  return states.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${stateWords[state]}`);
}

export function sumStates(counts: StateCounts[]): StateCounts {
  const sum = (state: InstanceState) => counts.reduce((total, one) => total + one[state], 0);
  return Object.fromEntries(states.map((state) => [state, sum(state)])) as StateCounts;
}

export function countStates(of: Iterable<InstanceState>): StateCounts {
  const counts = Object.fromEntries(states.map((state) => [state, 0])) as StateCounts;
  for (const state of of) counts[state]++;
  return counts;
}
