// Which of the snapshots that a supervisor kept is the submission as it stood at a share of the budget. Pure.
// Snapshots are taken when the folder has changed and nobody writes, so the last one before a moment is what an
// agent would have handed in, had its time been over then; it lags behind the folder by the pause between two.

import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { SnapshotIndex } from "@mlrb/formats/attempt/snapshot-index";

export type CheckpointSubmission =
  /** The attempt had ended: what it handed in. */
  | { kind: "final" }
  | { kind: "snapshot"; name: string }
  /** Nothing had been put there yet. */
  | { kind: "none" }
  /** It was taken, and went for want of room; nothing kept equals it. */
  | { kind: "dropped" };

/** `share` of the budget, over 0 and under 1. */
export function submissionAt(
  share: number,
  { budgetMs, snapshots, dropped = [] }: SnapshotIndex,
  ledger: Pick<Ledger, "workingMs"> & { submission: { digest: string } },
): CheckpointSubmission {
  const atMs = share * budgetMs;
  if (ledger.workingMs <= atMs) return { kind: "final" };
  const taken = [...snapshots, ...dropped]
    .filter(({ sinceStartMs }) => sinceStartMs <= atMs)
    .sort((a, b) => a.sinceStartMs - b.sinceStartMs);
  const last = taken.at(-1);
  if (last === undefined) return { kind: "none" };
  const equal = snapshots.filter(({ digest }) => digest === last.digest);
  const held = equal.find(({ sinceStartMs }) => sinceStartMs === last.sinceStartMs) ?? equal[0];
  if (held) return { kind: "snapshot", name: held.name };
  return last.digest === ledger.submission.digest ? { kind: "final" } : { kind: "dropped" };
}
