// Decides the fate of an attempt that no longer runs: a complete attempt is kept as a record, any other is
// quarantined with its cause. Only this module decides between the two.

import { join } from "node:path";
import type { AttemptEnd, EndCause } from "@mlrb/formats/attempt/attempt-end";
import { extractDiskImages } from "@mlrb/kit/files/disk-image";
import { writeReserved } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { StateFolder } from "../store/state-folder.ts";
import { heldMs } from "./attempt-cost.ts";
import { attemptEnd, type PlacedAttempt } from "./attempt-folders.ts";
import { completeAttempt } from "./complete-attempt.ts";
import { type Quarantined, quarantine } from "./quarantine.ts";
import { removeAttempt } from "./remove-attempt.ts";

export type Settled =
  /** Succeeded: the folder waits to be kept as a record. */
  | { kind: "complete"; end: AttemptEnd }
  | ({ kind: "quarantined" } & Quarantined)
  /** Produced and spent nothing: the folder is removed. */
  | { kind: "nothing" };

/** Call once the processes of the attempt are dead. */
export async function settleAttempt(
  attempt: PlacedAttempt,
  cause: EndCause,
  state: Pick<StateFolder, "root" | "logs">,
): Promise<Settled> {
  const { path } = attempt;
  const ended = attemptEnd(path);
  if (ended?.result.kind === "succeeded" && cause.kind !== "failed") return { kind: "complete", end: ended };
  // a sound ledger does not make up for a missing output
  const complete = ended?.result.kind === "succeeded" ? "" : await completeAttempt(attempt);
  if (typeof complete === "object") {
    const durationMs = heldMs(attempt, ended?.durationMs);
    const end: AttemptEnd = { formatVersion: 1, result: { kind: "succeeded" }, durationMs };
    writeReserved(join(path, "end.json"), canonicalJson(end));
    return { kind: "complete", end };
  }
  await extractDiskImages(path);
  const kept = quarantine(attempt, cause, state);
  if (kept) return { kind: "quarantined", ...kept };
  await removeAttempt(path);
  return { kind: "nothing" };
}
