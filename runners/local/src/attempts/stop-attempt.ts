// Stops a running attempt at a person's request: its supervisor seals its work and quarantines it.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import { writeReserved } from "@mlrb/kit/files/full-disk";
import type { ClearSandbox } from "../run/run-request.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { type AttemptFolder, attemptToken, stopFile } from "./attempt-folders.ts";
import { type Settled, settleAttempt } from "./settle-attempt.ts";
import { watchSupervised } from "./supervised.ts";

/** Time for the supervisor to seal and move the attempt before it is killed. */
const patienceMs = 20_000;

type StopOptions = { state: StateFolder; clearSandbox: ClearSandbox; by: string };

export async function stopAttempt(
  attempt: AttemptFolder,
  { state, clearSandbox, by }: StopOptions,
): Promise<Settled> {
  const { name, path, card } = attempt;
  try {
    writeReserved(join(path, stopFile), JSON.stringify({ by })); // the disk may be full
  } catch {
    // the supervisor has just ended
  }
  const handle = watchSupervised(path, name); // of a dead supervisor: it has ended
  handle.askToEnd();
  await Promise.race([handle.ended, sleep(patienceMs, undefined, { ref: false })]);
  handle.kill();
  await handle.ended;
  await clearSandbox(sandboxToken(attemptToken(name)), card.executor);
  return settleAttempt(attempt, { kind: "stopped", detail: by }, state);
}
