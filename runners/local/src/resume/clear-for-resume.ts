// Prepares the folder of an attempt whose supervisor or host died for another supervisor.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { waitFile } from "@mlrb/core/ports/attempt-wait";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { hasOpenJob } from "@mlrb/kit/attempts/open-job";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import {
  attemptOf,
  attemptToken,
  brokenFile,
  type PlacedAttempt,
  supervisorFile,
} from "../attempts/attempt-folders.ts";
import type { ClearSandbox } from "../run/run-request.ts";
import { outputPaths } from "../stage/output-paths.ts";

/** Names of the attempt's secrets that are not set here: without them nothing can continue it. */
export function unsetSecrets({ secrets }: Pick<AttemptCard, "secrets">): string[] {
  return secrets.filter((name) => !process.env[name]);
}

/** Resumes in a row in which no model answered; a supervisor that always dies must not be started for ever. */
const fruitlessMax = 2;

/** Decides whether a run continues the attempt of this key once more after its supervisor died. */
export function resumesOf(key: string, workspace: Parameters<typeof attemptOf>[1]): { may(): boolean } {
  let answers = -1;
  let fruitless = 0;
  return {
    may() {
      const attempt = attemptOf(key, workspace);
      if (attempt?.state.kind !== "resumable" || unsetSecrets(attempt.card).length > 0) return false;
      const now = lastSpending(join(attempt.path, "spending.jsonl"))?.calls ?? 0;
      fruitless = now > answers ? 0 : fruitless + 1;
      answers = Math.max(now, answers);
      return fruitless <= fruitlessMax;
    },
  };
}

/** Ends what the dead supervisor left. Call under the lease of the attempt's key. */
export async function endLeftProcesses(
  { name, path, card }: PlacedAttempt,
  clearSandbox: ClearSandbox | undefined,
): Promise<void> {
  if (hasOpenJob(path)) return; // they are the job's, and go on
  const token = attemptToken(name);
  await endProcesses({ token, root: path, groups: [] });
  await clearSandbox?.(sandboxToken(token), card.executor);
}

/** Frees the place of the dead supervisor for another, once its processes are ended. */
export function clearForResume(attempt: PlacedAttempt): void {
  const { path } = attempt;
  for (const file of [join(path, brokenFile), supervisorFile(path)]) rmSync(file, { force: true });
  if (hasOpenJob(path)) rmSync(join(path, waitFile), { force: true });
  else clearForNextJob(attempt);
}

/** Removes what a stage leaves that sealed its work because a cluster ended its job. */
export function clearForNextJob({ path, card }: PlacedAttempt): void {
  const { ledger } = outputPaths(path, card.gives);
  for (const file of [join(path, waitFile), join(path, "trouble.json"), ledger])
    if (file !== undefined) rmSync(file, { force: true });
}
