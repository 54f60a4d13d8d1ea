// Watches what an agent runs: a program of its own, or our loop around a model. Records output, iterations and the
// submission meanwhile. When it ends or its time is over, stops and then ends everything that was started inside.

import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { holdAtDeadlineMs, type ProviderSilence } from "../model/provider-silence.ts";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { Interrupted, interruption, sameMomentMs } from "./interruption.ts";
import type { Supervision } from "./supervision.ts";
import { type Ending, watchProgram } from "./watch-program.ts";

/** The time on disk is at most this old. */
const beatMs = 15_000;

export type Started = {
  running: Promise<Ending>;
  /** Called when it is over, before everything is ended. */
  stop?(): void;
  /** Tells at the deadline to which trouble of a provider the attempt was lost. */
  silence?: ProviderSilence;
};

export type SupervisedRun = { ending: Ending; wallMs: number; workingMs: number };

/**
 * Failures are thrown where they are awaited: thrown where they happen, they would end the supervisor. The next
 * look throws `beatFailure`; an end of the agent that comes first is an end.
 */
type Watching = { looking: Promise<void>; failure?: unknown; beatFailure?: unknown };

/** Throws if the program cannot be started, the sandbox is lost or the record cannot be kept. */
export async function supervise(
  supervision: Supervision,
  start: (failed: (error: unknown) => void) => Started,
): Promise<SupervisedRun> {
  const { request, sandbox, output, iterations, clock, meter } = supervision;
  const watching: Watching = { looking: Promise.resolve() };
  const failed = (error: unknown) => {
    watching.failure ??= error;
  };
  const { running, silence, ...started } = start(failed);
  void supervision.downloads?.failure.then(failed);
  const stop = () => {
    started.stop?.();
    void supervision.restorePoints?.stop();
    void supervision.downloads?.close();
  };
  running.catch(() => {}); // awaited below
  let ending: Ending;
  try {
    ending = await untilItEnds(supervision, watching, running);
  } catch (error) {
    stop();
    if (error instanceof Interrupted) {
      await sandbox.kill();
      output.end();
      await iterations.read(true);
      throw error;
    }
    ending = await endedByFullDisk(error, sandbox);
    watching.looking = Promise.resolve();
    watching.failure = undefined;
  }
  const wallMs = Math.round(clock.sinceStart());
  const workingMs = Math.round(clock.workingMs());
  // the time that its dollars allowed
  const isSpent = ending.kind === "time-limit" && meter.over()?.limit === "dollars";
  keepTime(supervision);
  /** Without a freeze, ending everything keeps the agent from getting more time. */
  const stopInside = async () => {
    if (!(await clock.stop())) await sandbox.kill();
  };
  if (ending.kind === "time-limit" && silence && !watching.failure) {
    const holdMs = request.holdMs ?? holdAtDeadlineMs(request.budget.timeMs);
    await stopInside();
    const interrupted = interruption(request.interrupted).catch(() => undefined);
    watching.failure ??= await Promise.race([silence.untilDeadline(holdMs), interrupted]);
  }
  stop();
  refuse(request, ending);
  await stopInside(); // ended only when the current copy is done: copying must not give the agent more time
  await watching.looking;
  await supervision.restorePoints?.stop();
  await sandbox.kill();
  await Promise.race([running.catch(() => {}), sleep(1000, undefined, { ref: false })]); // output left in the pipe
  if (watching.failure) throw watching.failure;
  output.end();
  await iterations.read(true);
  return { ending: isSpent ? { kind: "over-budget", limit: "dollars" } : ending, wallMs, workingMs };
}

/** On disk, so that a kill during the copy of the submission gives no time back that was used up. */
function keepTime({ meter }: Supervision): void {
  try {
    meter.beat(0);
  } catch (error) {
    if (!isFullDisk(error)) throw error; // the end waits for room
  }
}

/** Rejects when a look fails, and with `Interrupted`. */
async function untilItEnds(
  supervision: Supervision,
  watching: Watching,
  running: Promise<Ending>,
): Promise<Ending> {
  const { request, sandbox, meter, trajectory, clock } = supervision;
  const watched = watchProgram(running, {
    leftMs: () => meter.leftMs(),
    pollMs: request.pollMs ?? 1000,
    budgetMs: () => clock.workingMs() + meter.leftMs(),
    look() {
      watching.looking = look(supervision, watching);
      return watching.looking;
    },
    used: (share) => trajectory.add({ event: "budget", share }),
  });
  // apart from the looks: one that copies a large submission takes minutes, and the next one waits nine times as
  // long
  const beats = setInterval(() => {
    try {
      meter.beat(beatMs);
    } catch (error) {
      watching.beatFailure ??= error;
    }
  }, request.pollMs ?? 1000);
  const ending = await Promise.race([watched, interruption(request.interrupted)]).finally(() =>
    clearInterval(beats),
  );
  await notInterrupted(ending, request.interrupted);
  if (endedOver(ending) === "disk") {
    await sandbox.kill();
    await sandbox.shed?.(); // what follows needs room too
  }
  return ending;
}

/** Records what the agent left since the last look. One look at a time. */
export async function look(
  { request, output, iterations, snapshots, restorePoints, clock, meter, trajectory }: Supervision,
  { failure, beatFailure = failure }: Watching,
): Promise<void> {
  if (beatFailure) throw beatFailure;
  if (trajectory.short())
    throw Object.assign(new Error(`no space left on the disk: ${request.outputs.trajectory}`), {
      code: "ENOSPC",
    });
  output.flush();
  await meter.tellExtension();
  restorePoints?.look();
  await iterations.read();
  await snapshots.look(clock.workingMs()); // checkpoints are shares of the working time
}

/** A signal to a whole process group ends the agent's program as well. That is not the program's own end. */
async function notInterrupted(ending: Ending, signal: AbortSignal | undefined): Promise<void> {
  if (signal && (ending.kind === "exited" || ending.kind === "signalled" || ending.kind === "lost"))
    await sleep(sameMomentMs);
  signal?.throwIfAborted();
}

function endedOver(ending: Ending): string | undefined {
  const end = ending.kind === "scaffold" ? ending.end : ending;
  return "over" in end ? end.over?.limit : undefined;
}

/** An end that the agent did not cause is not an end of its attempt. */
export function refuse({ agent }: Pick<AttemptRequest, "agent">, ending: Ending): void {
  if (ending.kind === "not-started")
    throw new Error(
      `agent "${agent}": its program could not be started: ${ending.detail}; ` +
        "check `command`, `program` and `environment` of the preset",
    );
  if (ending.kind === "lost")
    throw new SandboxTrouble(
      `the sandbox of agent "${agent}" ended: ${ending.detail}; the agent did not cause this, so nothing was measured`,
    );
}

/**
 * The record could not be written on a full disk. If this agent filled the disk, its programs are ended and the
 * attempt is completed. Otherwise it is the machine's trouble, and thrown.
 */
async function endedByFullDisk(error: unknown, sandbox: Sandbox): Promise<Ending> {
  if (!isFullDisk(error) || !sandbox.shed) throw error;
  await sandbox.kill();
  const { freedBytes, limitBytes } = await sandbox.shed();
  if (freedBytes < limitBytes / 2) throw error;
  const detail = `the disk was full; its programs had written ${freedBytes} bytes`;
  return { kind: "signalled", signal: "SIGKILL", over: { limit: "disk", detail } };
}
