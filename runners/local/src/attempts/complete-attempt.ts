// Decides whether an attempt without a written end is complete: its supervisor died, or the disk was full, after
// the agent had ended. Certain only where a ledger seals the trajectory: the ledger is written last, after the
// submission. The presence of outputs alone proves nothing.
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { missingOutput } from "../stage/missing-output.ts";
import { outputPaths } from "../stage/output-paths.ts";
import type { PlacedAttempt } from "./attempt-folders.ts";

/** The ledger, or the reason why the attempt does not count as complete. */
export async function completeAttempt({ path, card }: Omit<PlacedAttempt, "name">): Promise<Ledger | string> {
  const paths = outputPaths(path, card.gives);
  if (paths.ledger === undefined || paths.trajectory === undefined)
    return "it gives no ledger that could say that it had ended";
  const ledger = readLedger(paths.ledger);
  if (typeof ledger === "string") return `it had not ended: ${ledger}`;
  if (ledger.ended === "interrupted") return "it was interrupted before its end";
  const missing = missingOutput(card.gives, paths);
  if (missing !== undefined) return missing;
  const trajectory = await verifyTrajectory(paths.trajectory, ledger.trajectory);
  if (trajectory.kind === "broken") return `its trajectory: line ${trajectory.line} ${trajectory.reason}`;
  return trajectory.complete ? ledger : "its trajectory does not tell its end";
}
