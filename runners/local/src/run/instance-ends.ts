// How what an instance came to is told: as an outcome to the scheduler, as a result to whoever reads it.
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { CachedAction } from "../decide/find-cached-action.ts";
import { CannotBundle } from "../digests/bundle-script.ts";
import { type CarriedOut, machineFailure } from "./carried-out.ts";
import type { Result } from "./result.ts";

/** Whether a call of this process failed, which may have left something half done. */
export function failedForTheMachine(result: Result | undefined): boolean {
  return result?.outcome.kind === "failed" && result.outcome.cause === "machine";
}

export function outcomeOf(result: CarriedOut): Outcome {
  switch (result.kind) {
    case "succeeded":
      return { kind: "succeeded" };
    case "lost":
      return {
        kind: "failed",
        cause: "machine",
        detail: `${result.detail}, again and again; check the disk`,
      };
    case "failed":
      return { kind: "failed", cause: result.cause, detail: result.detail };
    default:
      return result;
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

/** Whatever binding or looking up threw: the instance's own failure, and no other's. */
export function decisionFailure(error: unknown): Outcome & { kind: "failed" } {
  if (error instanceof CannotBundle) return { kind: "failed", cause: "exit-code", detail: error.message };
  try {
    return machineFailure(error);
  } catch {
    return { kind: "failed", cause: "machine", detail: (error as Error).message };
  }
}
