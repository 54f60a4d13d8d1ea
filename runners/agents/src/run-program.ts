// Runs an agent's program under watch: its output, its iterations and its submission are recorded
// while it works, and when it ends or its time is over everything it started is stopped, then ended.

import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult, Sandbox } from "@mlrb/core/sandbox";
import type { AttemptRequest } from "./attempt-request.ts";
import { isFullDisk } from "./copy-out.ts";
import type { IterationsReader } from "./iterations-reader.ts";
import type { OutputLog } from "./output-log.ts";
import { SandboxTrouble } from "./sandbox-trouble.ts";
import type { SnapshotKeeper } from "./snapshot-keeper.ts";
import type { Trajectory } from "./trajectory.ts";
import { type Ending, watchProgram } from "./watch-program.ts";
import { agentCommand, agentEnvironment, inside } from "./workspace.ts";

export type Supervision = {
  sandbox: Sandbox;
  trajectory: Trajectory;
  output: OutputLog;
  iterations: IterationsReader;
  snapshots: SnapshotKeeper;
  /** Wall clock, ms. */
  deadline: number;
  /** Monotonic, ms. */
  sinceStart(): number;
};

function endedOver(ending: Ending): string | undefined {
  return "over" in ending ? ending.over?.limit : undefined;
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

/** Throws when the program cannot be started or the record cannot be kept. */
export async function runProgram(
  request: AttemptRequest,
  { sandbox, trajectory, output, iterations, snapshots, deadline, sinceStart }: Supervision,
): Promise<{ ending: Ending; wallMs: number }> {
  let failure: unknown;
  trajectory.add({ event: "exec", argv: request.command });
  const running: Promise<ExecResult> = sandbox.exec({
    argv: agentCommand(sandbox, request),
    cwd: sandbox.seenAs(inside.workspace),
    env: agentEnvironment(sandbox, request, deadline),
    onOutput(stream, bytes) {
      try {
        output.take(stream, bytes);
      } catch (error) {
        failure ??= error; // thrown where somebody waits for it: here it would end the supervisor
      }
    },
  });
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    if (failure) throw failure;
    output.flush();
    await iterations.read();
    await snapshots.look(sinceStart());
  };
  const watching = watchProgram(running, {
    leftMs: () => request.budgetMs - sinceStart(),
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
    ending = await endedByFullDisk(error, sandbox);
    looking = Promise.resolve();
    failure = undefined;
  }
  const wallMs = Math.round(sinceStart());
  if (ending.kind === "not-started") {
    throw new Error(
      `agent "${request.agent}": its program could not be started: ${ending.detail}; ` +
        "check `command`, `program` and `environment` of the preset",
    );
  }
  if (ending.kind === "lost")
    throw new SandboxTrouble(
      `the sandbox ended under agent "${request.agent}": ${ending.detail}; that is not the agent's doing, so nothing was measured`,
    );
  // stopped first and ended when the copy in hand is done: copying gives nobody more time
  await sandbox.freeze();
  await looking;
  await sandbox.kill();
  await Promise.race([running, sleep(1000, undefined, { ref: false })]); // what stood in the pipe
  if (failure) throw failure;
  output.end();
  await iterations.read(true);
  const where = sandbox.where?.();
  trajectory.add({ event: "exec-end", result: ending, ...(where && { where }) });
  return { ending, wallMs };
}
