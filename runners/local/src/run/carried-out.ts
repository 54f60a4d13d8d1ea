// The input and the result of carrying an instance out.

import type { Executor, Running } from "@mlrb/core/ports/executor";
import type { RefusalText } from "@mlrb/core/ports/permissions";
import type { CostEstimate } from "@mlrb/formats/attempt/attempt-record";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { FailureCause } from "@mlrb/formats/stage/outcome";
import { DamagedAttempt } from "../attempts/attempt-folders.ts";
import type { Quarantined } from "../attempts/quarantine.ts";
import type { GpuLease } from "../leases/gpu-leases.ts";
import { DamagedRecord, type HeldRecord } from "../records/attempt-records.ts";
import type { WorkSlots } from "../stage/work-slots.ts";
import { MissingContent } from "../store/artifact-store.ts";
import type { Workspace } from "../store/workspace.ts";
import { machineHelp, systemCode } from "./machine-help.ts";
import type { ClearSandbox, RunPurse } from "./run-request.ts";

export type CarriedOut =
  | { kind: "succeeded"; outputs: Record<string, Artifact>; durationMs: number; record?: HeldRecord }
  /** `quarantined`: of an attempt, what is left of it and what that cost. */
  | { kind: "failed"; cause: FailureCause; detail: string; quarantined?: Quarantined }
  /** What it reads is no longer in the store, or was damaged there. */
  | { kind: "lost"; detail: string }
  | { kind: "cancelled" };

export type CarryOutContext = {
  workspace: Workspace;
  executor: Executor;
  run: string;
  token: string;
  /** `--take-over`: silent hosts are down. */
  takeOver: boolean;
  /** Whether untrusted programs may run without a sandbox. */
  unsafeLocal: boolean;
  clearSandbox: ClearSandbox | undefined;
  purse: RunPurse | undefined;
  /** Where instances work in this run. */
  slots: WorkSlots;
  /** Where what it says can be read, soon after it begins and for good. */
  log: string;
  slot: { pipeline: string; profile: string };
  /** What each input is called where it comes from, for the record of a durable instance. */
  origins: { name: string; stage: string; output: string }[];
  /** Of a durable instance: what it is expected to cost. */
  estimate?: CostEstimate;
  /** How the try before this one ended, whose log this one goes on with. */
  before?: string;
  /** The GPUs that it holds; undefined where it wants none. */
  gpus?: GpuLease;
  /** False once another run took it over: what that makes counts. */
  isHeld: () => boolean;
  /**
   * Called where it is found going on, begun by a run that is gone; with when that was, where known. `underCap`:
   * false of an attempt that this run's `--max-cost` does not reach.
   */
  adopted: (since: string | undefined, money?: { underCap: boolean }) => void;
  /** Of a durable instance: whether it was begun already, as far as the person knows who agreed to what this run costs. */
  goesOn: boolean;
  /** Called with the name of an attempt that goes on without this run, which was interrupted. */
  left: (name: string) => void;
  /** Called with what an attempt's script read and does not declare. */
  undeclared: (texts: RefusalText[]) => void;
  /** Called once it runs, with the handle that can end it. */
  started: (running: Running) => void;
  /** Called once its processes are dead, if they ended well. */
  freed: () => void;
};

/** An error of the machine, with the way out where one is known. Rethrows bugs. */
export function machineFailure(error: unknown): CarriedOut & { kind: "failed" } {
  if (error instanceof MissingContent) {
    return { kind: "failed", cause: "machine", detail: `${error.message}; run again to recreate it` };
  }
  if (error instanceof DamagedRecord || error instanceof DamagedAttempt)
    return { kind: "failed", cause: "machine", detail: error.message };
  const { message } = error as NodeJS.ErrnoException;
  const code = systemCode(error as NodeJS.ErrnoException);
  const help = machineHelp(code);
  if (help !== undefined)
    return { kind: "failed", cause: "machine", detail: `${help} (${withoutPaths(message)})` };
  if (code !== undefined) return { kind: "failed", cause: "machine", detail: withoutPaths(message) };
  throw error; // a bug, not trouble with the machine
}

/** Causes reach reports, which are the same wherever they were made. */
function withoutPaths(message: string): string {
  return message.replace(/,? '[^']*'( -> '[^']*')?/g, "");
}
