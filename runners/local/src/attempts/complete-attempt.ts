// Whether an attempt had come to its own end although nothing says so: its supervisor died, or the disk was full,
// between the agent's end and the last word. Certain only where a ledger seals the trajectory: it is written last,
// after the submission. Nothing is guessed from outputs that merely are there.
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { missingOutput } from "../stage/missing-output.ts";
import { outputPaths } from "../stage/output-paths.ts";

/** Its ledger; a text is why it cannot be taken for complete. */
export async function completeAttempt({
  path,
  card,
}: {
  path: string;
  card: AttemptCard;
}): Promise<Ledger | string> {
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
