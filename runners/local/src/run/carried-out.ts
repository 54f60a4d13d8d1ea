// The input and the result of carrying out an instance.

import type { Instance } from "@mlrb/core/plan/plan";
import type { Executor, Place, Running } from "@mlrb/core/ports/executor";
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
import { machineHelp, systemCode } from "./machine-help.ts";
import type { RunOptions } from "./run-request.ts";

export type CarriedOut =
  | { kind: "succeeded"; outputs: Record<string, Artifact>; durationMs: number; record?: HeldRecord }
  /**
   * `quarantined`: for an attempt, its remaining files and their cost. `unchanged`: a source that may have changed
   * while the stage ran, although it is now as the key says: another try may give the result of the same key.
   */
  | { kind: "failed"; cause: FailureCause; detail: string; quarantined?: Quarantined; unchanged?: string }
  /** An input is missing from the store, or was damaged there. */
  | { kind: "lost"; detail: string }
  | { kind: "cancelled" };

/** The context that all instances of a run share. */
export type SharedContext = Pick<RunOptions, "workspace" | "clearSandbox" | "purse"> & {
  run: string;
  /** Whether untrusted programs may run without a sandbox. */
  unsafeLocal: boolean;
  /** Whether untrusted programs may run where only polls limit their memory. */
  weakLimits?: boolean;
  /** Whether a stage that opens what untrusted code made may run without walls where none can be built. */
  mayRunWeakly: (instance: Instance) => boolean;
  /** The work folders of this run's instances. */
  slots: WorkSlots;
};

export type CarryOutContext = SharedContext & {
  executor: Executor;
  /** The program that supervises an attempt elsewhere. */
  supervisor?: string | undefined;
  token: string;
  /** Where the log is readable, soon after the start and permanently. */
  log: string;
  slot: { pipeline: string; profile: string };
  /** The names of each input at its source, for the record of a durable instance. */
  origins: { name: string; stage: string; output: string }[];
  /** For a durable instance: its expected cost. */
  estimate?: CostEstimate;
  /** The digest of the protocol in force now, for the record of a durable instance. */
  protocol: () => string | undefined;
  /** How the previous try ended, whose log this try appends to. */
  before?: string;
  /** The addresses of the services that it uses, by name. */
  services?: Record<string, string>;
  /** The GPUs that the instance holds; undefined where it needs none. */
  gpus?: GpuLease;
  /** False once another run took the lease over: the result of that run counts. */
  isHeld: () => boolean;
  /**
   * Called when the instance is already running, begun by a dead run. `since`: the time of its start, where known.
   * `resumed`: its supervisor had died.
   */
  adopted: (since: string | undefined, how?: { resumed?: boolean }) => void;
  /** For a durable instance: whether it was already running when a person confirmed the cost of this run. */
  goesOn: boolean;
  /** Called with the name of an attempt that continues without this interrupted run. */
  left: (name: string) => void;
  /** Called with the undeclared reads of an attempt's script. */
  undeclared: (texts: RefusalText[]) => void;
  /** Called at the start, with the handle that can end the instance. */
  started: (running: Running) => void;
  /** Called when a supervisor submits another job of the attempt, with the reason why the one before it ended. */
  continued: (detail: string) => void;
  /** Called when a scheduler has taken the instance into its queue. */
  submitted: () => void;
  /** Called when the instance begins on a node, with its time in the queue; undefined where another run submitted it. */
  placed: (place: Place, queuedMs: number | undefined) => void;
  /** Called after success, once the processes are dead. */
  freed: () => void;
};

/** An error of the machine, with the way out where one is known. Rethrows bugs. */
export function machineFailure(error: unknown): CarriedOut & { kind: "failed" } {
  const failed = (detail: string) => ({ kind: "failed", cause: "machine", detail }) as const;
  if (error instanceof MissingContent) return failed(`${error.message}; run again to recreate it`);
  if (error instanceof DamagedRecord || error instanceof DamagedAttempt) return failed(error.message);
  const code = systemCode(error as NodeJS.ErrnoException);
  if (code === undefined) throw error; // a bug, not a machine failure
  const words = withoutPaths((error as Error).message);
  const help = machineHelp(code);
  return failed(help === undefined ? words : `${help} (${words})`);
}

/** Removes paths: causes reach reports, which must be equal on every machine. */
function withoutPaths(message: string): string {
  return message.replace(/,? '[^']*'( -> '[^']*')?/g, "");
}
