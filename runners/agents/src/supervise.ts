// Watches whatever an agent runs (a program of its own, or our loop around a model): its output, its iterations
// and its submission are recorded while it works, and when it ends or its time is over everything that was
// started inside is stopped, then ended.

import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "@mlrb/core/sandbox";
import type { AttemptMeter } from "./attempt-meter.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { isFullDisk } from "./copy-out.ts";
import type { IterationsReader } from "./iterations-reader.ts";
import type { OutputLog } from "./output-log.ts";
import { SandboxTrouble } from "./sandbox-trouble.ts";
import type { SnapshotKeeper } from "./snapshot-keeper.ts";
import type { Trajectory } from "./trajectory.ts";
import { type Ending, watchProgram } from "./watch-program.ts";

export type Supervision = {
  sandbox: Sandbox;
  trajectory: Trajectory;
  output: OutputLog;
  iterations: IterationsReader;
  snapshots: SnapshotKeeper;
  meter: AttemptMeter;
  /** Monotonic, ms. */
  sinceStart(): number;
};

export type Started = {
  running: Promise<Ending>;
  /** Called when it is over, before everything is ended. */
  stop?(): void;
};

/** Throws when the program cannot be started, the sandbox is lost or the record cannot be kept. */
export async function supervise(
  request: AttemptRequest,
  { sandbox, output, iterations, snapshots, meter, sinceStart, trajectory }: Supervision,
  start: (failed: (error: unknown) => void) => Started,
): Promise<{ ending: Ending; wallMs: number; workingMs: number }> {
  let failure: unknown;
  // thrown where somebody waits for it: where it happens it would end the supervisor
  const { running, stop } = start((error) => {
    failure ??= error;
  });
  running.catch(() => {}); // awaited below
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    if (failure) throw failure;
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
    ending = await watching;
    if (endedOver(ending) === "disk") {
      await sandbox.kill();
      await sandbox.shed?.(); // what follows needs room too
    }
  } catch (error) {
    stop?.();
    ending = await endedByFullDisk(error, sandbox);
    looking = Promise.resolve();
    failure = undefined;
  }
  stop?.();
  const wallMs = Math.round(sinceStart());
  const workingMs = Math.round(meter.workingMs());
  refuse(request, ending);
  // stopped first and ended when the copy in hand is done: copying gives nobody more time
  await sandbox.freeze();
  await looking;
  await sandbox.kill();
  await Promise.race([running.catch(() => {}), sleep(1000, undefined, { ref: false })]); // what stood in the pipe
  if (failure) throw failure;
  output.end();
  await iterations.read(true);
  return { ending, wallMs, workingMs };
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
