// Stops an attempt at a person's request: its supervisor seals its work and quarantines it. An attempt without a
// living supervisor is stopped under the lease of its key: a run may be about to start another supervisor in its
// folder.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import { jobsFolder } from "@mlrb/kit/attempts/open-job";
import { writeReserved } from "@mlrb/kit/files/full-disk";
import { quiet } from "@mlrb/kit/processes/process-table";
import { takeLease } from "../leases/lease.ts";
import { ownerWords } from "../leases/owner.ts";
import type { ClearSandbox } from "../run/run-request.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { type AttemptFolder, attemptFolder, attemptToken, isUnclaimed, stopFile } from "./attempt-folders.ts";
import { type Settled, settleAttempt } from "./settle-attempt.ts";
import { watchSupervised } from "./supervised.ts";

/** Time for the supervisor to seal and move the attempt before it is killed. */
const patienceMs = 20_000;
/** Time for a run to let go of an attempt whose supervisor died. */
const turnMax = 5_000;

type StopOptions = {
  state: StateFolder;
  clearSandbox: ClearSandbox;
  /** Ends the jobs in the attempt's folder, of which no process takes care. */
  endJobs: (path: string) => Promise<void>;
  by: string;
  turnMs?: number;
};

/** `refused`: a run is about to continue the attempt. */
export type Stopped = Settled | { kind: "refused"; why: string };

export async function stopAttempt(attempt: AttemptFolder, options: StopOptions): Promise<Stopped> {
  const { name, path, card } = attempt;
  const { running, leases } = options.state;
  if (attempt.state.kind === "running") await endSupervisor(attempt, options);
  const now = attemptFolder(running, name)?.state.kind;
  if (now === undefined || now === "ended") return settle(attempt, options);
  const until = performance.now() + (options.turnMs ?? turnMax);
  let holder = "";
  const lease = await takeLease(leases, card.key, {
    durable: true,
    waiting: (owner) => {
      holder = ownerWords(owner);
    },
    stopped: () => performance.now() > until,
  });
  if (!lease || "silent" in lease) {
    rmSync(join(path, stopFile), { force: true });
    const why = `${holder} is about to continue it; end that run, or repeat this command once the attempt runs`;
    return { kind: "refused", why };
  }
  try {
    // the run may have started another supervisor before it let go
    if (!isUnclaimed(path)) await endSupervisor(attempt, options);
    return await settle(attempt, options);
  } finally {
    lease.release();
  }
}

/** Also ends what a dead supervisor left running. */
async function endSupervisor({ name, path }: AttemptFolder, { by }: StopOptions): Promise<void> {
  // into reserved room: the disk may be full; it fails if the supervisor has just ended
  quiet(() => writeReserved(join(path, stopFile), JSON.stringify({ by })));
  const handle = watchSupervised(path, name);
  handle.askToEnd();
  await Promise.race([handle.ended, sleep(patienceMs, undefined, { ref: false })]);
  handle.kill();
  await handle.ended;
}

async function settle(attempt: AttemptFolder, options: StopOptions): Promise<Settled> {
  const { state, clearSandbox, endJobs, by } = options;
  if (existsSync(join(attempt.path, jobsFolder))) await endJobs(attempt.path);
  await clearSandbox(sandboxToken(attemptToken(attempt.name)), attempt.card.executor);
  return settleAttempt(attempt, { kind: "stopped", detail: by }, state);
}
