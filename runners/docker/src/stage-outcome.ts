// The outcome of a stage, from how its container ended and why it was ended, worded as by the local executor.
// Pure.

import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { exitDetail } from "@mlrb/kit/processes/exit-detail";
import type { ContainerEnd } from "./container-end.ts";

export type StageEnd = {
  /** Undefined if the stage ended by itself. */
  why: "time-limit" | "cancelled" | undefined;
  end: ContainerEnd;
  limits: ExecutionRequest["limits"];
  where: Record<string, string>;
};

export function stageOutcome({ why, end, limits, where }: StageEnd): ExecutionResult {
  if (why === "cancelled") return { kind: "cancelled" };
  if (why === "time-limit") {
    const detail = `did not end within ${formatDuration(limits.timeMs!)}`;
    return { kind: "failed", cause: "time-limit", detail };
  }
  if (end.kind === "trouble") return { kind: "failed", cause: "machine", detail: end.detail };
  const { OOMKilled, ExitCode } = end.state;
  if (OOMKilled) {
    // even with exit code 0: a program may go on after a child was killed
    const limit = limits.memoryBytes;
    const detail =
      limit === undefined
        ? "was killed for lack of memory on this machine"
        : `held more than ${limit} bytes of memory`;
    return { kind: "failed", cause: "out-of-memory", detail };
  }
  if (ExitCode === 0) return { kind: "succeeded", where };
  return { kind: "failed", cause: "exit-code", detail: exitDetail(ExitCode) };
}

/** The last line of its log; undefined if the program's own output explains the end. */
export function lastLine(outcome: ExecutionResult): string | undefined {
  if (outcome.kind !== "failed") return undefined;
  switch (outcome.cause) {
    case "time-limit":
      return `mlrb: ${outcome.detail} (limits.time) and was ended\n`;
    case "out-of-memory":
      return `mlrb: ${outcome.detail} (limits.memory)\n`;
    case "exit-code":
      return undefined;
    default:
      return `mlrb: ${outcome.detail}\n`;
  }
}
