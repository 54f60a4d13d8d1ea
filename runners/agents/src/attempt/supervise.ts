// Watches whatever an agent runs (a program of its own, or our loop around a model): its output, its iterations
// and its submission are recorded while it works, and when it ends or its time is over everything that was
// started inside is stopped, then ended.

import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import type { IterationsReader } from "../record/iterations-reader.ts";
import type { OutputLog } from "../record/output-log.ts";
import type { Trajectory } from "../record/trajectory.ts";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";
import type { AttemptMeter } from "./attempt-meter.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import type { FrozenTime } from "./frozen-time.ts";
import { Interrupted, sameMomentMs } from "./interruption.ts";
import type { SnapshotKeeper } from "./snapshot-keeper.ts";
import { type Ending, watchProgram } from "./watch-program.ts";

export type Supervision = {
  sandbox: Sandbox;
  trajectory: Trajectory;
  output: OutputLog;
  iterations: IterationsReader;
  snapshots: SnapshotKeeper;
  meter: AttemptMeter;
  frozen: FrozenTime;
  /** Monotonic, ms. */
  sinceStart(): number;
};

export type Started = {
  running: Promise<Ending>;
  /** Called when it is over, before everything is ended. */
  stop?(): void;
  /** At the deadline, with everything inside frozen: what the attempt was lost to, if that was not its agent's. */
  lostAtDeadline?(): Promise<Error | undefined>;
};

/** Throws when the program cannot be started, the sandbox is lost or the record cannot be kept. */
export async function supervise(
  request: AttemptRequest,
  { sandbox, output, iterations, snapshots, meter, frozen, sinceStart, trajectory }: Supervision,
  start: (failed: (error: unknown) => void) => Started,
): Promise<{ ending: Ending; wallMs: number; workingMs: number }> {
  let failure: unknown;
  // thrown where somebody waits for it: where it happens it would end the supervisor
  const { running, stop, lostAtDeadline } = start((error) => {
    failure ??= error;
  });
  running.catch(() => {}); // awaited below
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    if (failure) throw failure;
    if (trajectory.short())
      throw Object.assign(new Error(`no space left on the disk: ${request.outputs.trajectory}`), {
        code: "ENOSPC",
      });
    output.flush();
    await iterations.read();
    await snapshots.look(meter.workingMs()); // a moment is a share of the working time
  };
  const watching = watchProgram(running, {
    leftMs: meter.leftMs,
    pollMs: request.pollMs ?? 1000,
    look() {
      looking = look();
      return looking;
    },
    used: (share) => trajectory.add({ event: "budget", share }),
  });
  let ending: Ending;
  try {
    ending = await Promise.race([watching, interruption(request.interrupted)]);
    await notInterrupted(ending, request.interrupted);
    if (endedOver(ending) === "disk") {
      await sandbox.kill();
      await sandbox.shed?.(); // what follows needs room too
    }
  } catch (error) {
    stop?.();
    if (error instanceof Interrupted) {
      await sandbox.kill();
      output.end();
      await iterations.read(true);
      throw error;
    }
    ending = await endedByFullDisk(error, sandbox);
    looking = Promise.resolve();
    failure = undefined;
  }
  const wallMs = Math.round(sinceStart());
  const workingMs = Math.round(meter.workingMs());
  if (ending.kind === "time-limit" && lostAtDeadline && !failure) {
    // where it cannot be frozen nobody gets more time
    if (!(await frozen.stop())) await sandbox.kill();
    failure ??= await Promise.race([lostAtDeadline(), aborted(request.interrupted)]);
  }
  stop?.();
  refuse(request, ending);
  // stopped first and ended when the copy in hand is done: copying gives nobody more time
  if (!(await frozen.stop())) await sandbox.kill();
  await looking;
  await sandbox.kill();
  await Promise.race([running.catch(() => {}), sleep(1000, undefined, { ref: false })]); // what stood in the pipe
  if (failure) throw failure;
  output.end();
  await iterations.read(true);
  return { ending, wallMs, workingMs };
}

/** Resolves when it is interrupted. */
function aborted(signal: AbortSignal | undefined): Promise<undefined> {
  return interruption(signal).catch(() => undefined);
}

/** Never settles well. */
function interruption(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** A signal to a whole group of processes ends the agent's program as well: that is no end of its own. */
async function notInterrupted(ending: Ending, signal: AbortSignal | undefined): Promise<void> {
  if (signal && (ending.kind === "exited" || ending.kind === "signalled" || ending.kind === "lost"))
    await sleep(sameMomentMs);
  signal?.throwIfAborted();
}

function endedOver(ending: Ending): string | undefined {
  const told = ending.kind === "scaffold" ? ending.end : ending;
  return "over" in told ? told.over?.limit : undefined;
}

/** What is not the agent's doing is no end of an attempt. */
function refuse({ agent }: AttemptRequest, ending: Ending): void {
  if (ending.kind === "not-started")
    throw new Error(
      `agent "${agent}": its program could not be started: ${ending.detail}; ` +
        "check `command`, `program` and `environment` of the preset",
    );
  if (ending.kind === "lost")
    throw new SandboxTrouble(
      `the sandbox ended under agent "${agent}": ${ending.detail}; that is not the agent's doing, so nothing was measured`,
    );
}

/**
 * The record could not be kept for want of room. If that is what this agent took, it is ended for it and its
 * attempt goes to its end; else it is the machine's trouble, and thrown.
 */
async function endedByFullDisk(error: unknown, sandbox: Sandbox): Promise<Ending> {
  if (!isFullDisk(error) || !sandbox.shed) throw error;
  await sandbox.kill();
  const { freedBytes, limitBytes } = await sandbox.shed();
  if (freedBytes < limitBytes / 2) throw error;
  const detail = `the disk was full; ${freedBytes} bytes of it were what its programs had written`;
  return { kind: "signalled", signal: "SIGKILL", over: { limit: "disk", detail } };
}
