// Converts the end of an instance: to an outcome for the scheduler, and to a result for later instances.
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { CachedAction } from "../decide/find-cached-action.ts";
import { CannotBundle } from "../digests/bundle-script.ts";
import { type CarriedOut, machineFailure } from "./carried-out.ts";
import type { Result } from "./result.ts";

/** Whether a system call failed, which may have left unfinished files. */
export function failedForTheMachine(result: Result | undefined): boolean {
  return result?.outcome.kind === "failed" && result.outcome.cause === "machine";
}

export function resultOf(result: CarriedOut): Result {
  switch (result.kind) {
    case "succeeded": {
      const { outputs, record } = result;
      return { outcome: { kind: "succeeded" }, outputs, ...(record && { record }) };
    }
    case "lost": {
      const detail = `${result.detail}, again and again; check the disk`;
      return { outcome: { kind: "failed", cause: "machine", detail }, outputs: {} };
    }
    case "failed": {
      const { kind, cause, detail, quarantined } = result;
      return { outcome: { kind, cause, detail }, outputs: {}, ...(quarantined && { quarantined }) };
    }
    default:
      return { outcome: result, outputs: {} };
  }
}

export function reusedResult({ outputs, record }: CachedAction, note?: string): Result {
  return {
    outcome: { kind: "reused" },
    outputs,
    ...(record && { record }),
    ...(note !== undefined && { note }),
  };
}

/** An error in binding or searching fails this instance only. */
export function decisionFailure(error: unknown): Outcome & { kind: "failed" } {
  if (error instanceof CannotBundle) return { kind: "failed", cause: "exit-code", detail: error.message };
  try {
    return machineFailure(error);
  } catch {
    return { kind: "failed", cause: "machine", detail: (error as Error).message };
  }
}
