// The result of a stage, from what its job wrote and how Slurm ended the job, worded as by the other executors.
// Pure.
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { SlurmDone } from "@mlrb/formats/stage/slurm-job";
import type { JobState } from "./job-state.ts";

export type JobEnd = {
  /** What the job wrote as its last file. */
  done: SlurmDone | undefined;
  /** The job's final state; undefined where Slurm does not know it any more. */
  state: JobState | undefined;
  /** Whether Slurm gave the job a node, and the job never began there. */
  unlaunched: boolean;
  /** Whether the runner asked the job to end. */
  asked: boolean;
  limits: ExecutionRequest["limits"];
  /** The last line of the job's own output; empty without one. */
  said: string;
};

/** Whether the cause depends on how Slurm ended the job, and not only on what the job wrote. */
export function needsState({ done, asked }: Pick<JobEnd, "done" | "asked">): boolean {
  if (done && (asked || done.continues)) return false;
  if (!done) return true;
  return done.result.kind === "cancelled" || isKilled(done.result);
}

export function jobResult({ done, state, unlaunched, asked, limits, said }: JobEnd): ExecutionResult {
  if (asked) return { kind: "cancelled" };
  if (done?.continues) return machine("the time of its job was over, and it goes on in another one");
  if (state === "out-of-memory" && !(done?.result.kind === "succeeded")) {
    const limit = limits.memoryBytes;
    const detail =
      limit === undefined
        ? "held more memory than its job books (resources.memory)"
        : `held more than ${limit} bytes of memory`;
    return { kind: "failed", cause: "out-of-memory", detail };
  }
  if (done && done.result.kind !== "cancelled") return withPlace(done, done.result);
  switch (state) {
    case "time-limit": {
      const detail =
        limits.timeMs === undefined
          ? "did not end within the time limit of its partition"
          : `did not end within ${formatDuration(limits.timeMs)}`;
      return { kind: "failed", cause: "time-limit", detail };
    }
    case "preempted":
      return machine("its job was preempted by another");
    case "node-failed":
      return machine("the node of its job failed");
    case "revoked":
      return machine("its job was moved to another cluster");
    case "cancelled":
      // e.g. after a crash of the controller: the node still has a job of the same id
      if (unlaunched) return machine("Slurm cancelled its job before it began on its node");
      return {
        kind: "failed",
        cause: "operator",
        detail: "its job was cancelled by another person or program (scancel); run again to repeat it",
      };
    default:
      if (done) return machine("its job got a signal, and Slurm does not say why");
      if (state === undefined) return machine("Slurm does not know its job any more, and there is no result");
      return machine(
        said === ""
          ? "its job ended without a result or a line of output: does the node share this disk (.mlrb)?"
          : `its job ended without a result: ${said}`,
      );
  }
}

function machine(detail: string): ExecutionResult {
  return { kind: "failed", cause: "machine", detail };
}

/** Where it ran, for its provenance. */
function withPlace({ id, node, host }: SlurmDone, result: SlurmDone["result"]): ExecutionResult {
  if (result.kind !== "succeeded") return result;
  return { ...result, where: { ...result.where, executor: "slurm", job: id, node, nodeHost: host } };
}

/** The stage's program was killed from outside, e.g. by the kernel for lack of memory. */
function isKilled(result: SlurmDone["result"]): boolean {
  return result.kind === "failed" && result.cause === "exit-code" && /SIGKILL|137/.test(result.detail);
}
