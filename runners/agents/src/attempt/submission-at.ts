// Selects the snapshot that holds the submission at a share of the budget. Pure. A snapshot is taken when the
// folder has changed and no program writes to it. So the last one before a checkpoint is what the agent would have
// submitted then. It lags behind the folder by the pause between two snapshots.

import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { SnapshotIndex } from "@mlrb/formats/attempt/snapshot-index";

export type CheckpointSubmission =
  /** The attempt had ended: its submission. */
  | { kind: "final" }
  | { kind: "snapshot"; name: string }
  /** The folder was still empty. */
  | { kind: "none" }
  /** The snapshot was dropped for lack of room, and no kept one equals it. */
  | { kind: "dropped" };

/** `share` of the budget, between 0 and 1, both excluded. */
export function submissionAt(
  share: number,
  { budgetMs, snapshots, dropped }: SnapshotIndex,
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
