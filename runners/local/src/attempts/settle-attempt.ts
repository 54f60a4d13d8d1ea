// What becomes of an attempt that runs no more: one that had come to its end is kept as a record, any other is
// quarantined with its cause. The only place that decides between the two; nothing else removes an attempt's folder.

import { join } from "node:path";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptEnd, EndCause } from "@mlrb/formats/attempt/attempt-end";
import { writeReserved } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { StateFolder } from "../store/state-folder.ts";
import { lastSignMs } from "./attempt-cost.ts";
import { attemptEnd } from "./attempt-folders.ts";
import { completeAttempt } from "./complete-attempt.ts";
import { type Quarantined, quarantine } from "./quarantine.ts";
import { removeAttempt } from "./remove-attempt.ts";

export type Settled =
  /** It had ended well: its folder waits to be kept as a record. */
  | { kind: "complete"; end: AttemptEnd }
  | ({ kind: "quarantined" } & Quarantined)
  /** It made and spent nothing: its folder is gone. */
  | { kind: "nothing" };

type Attempt = { name: string; path: string; card: AttemptCard };

/** Once its processes are dead. */
export async function settleAttempt(
  attempt: Attempt,
  cause: EndCause,
  state: Pick<StateFolder, "root" | "logs">,
): Promise<Settled> {
  const { path } = attempt;
  const ended = attemptEnd(path);
  if (ended?.result.kind === "succeeded" && cause.kind !== "failed") return { kind: "complete", end: ended };
  // an output that is missing or odd is not missing less when the ledger is fine
  const complete = ended?.result.kind === "succeeded" ? "" : await completeAttempt(attempt);
  if (typeof complete === "object") {
    const durationMs = ended?.durationMs ?? lastSignMs(attempt);
    const end: AttemptEnd = { formatVersion: 1, result: { kind: "succeeded" }, durationMs };
    writeReserved(join(path, "end.json"), canonicalJson(end));
    return { kind: "complete", end };
  }
  const kept = quarantine(attempt, cause, state);
  if (kept) return { kind: "quarantined", ...kept };
  await removeAttempt(path);
  return { kind: "nothing" };
}
