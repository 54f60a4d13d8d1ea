// The options of a run, and the events that it reports.

import type { Reason } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Executor } from "@mlrb/core/ports/executor";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { Queued } from "@mlrb/core/schedule/queued-for";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import type { RemoteCache } from "../remote/remote-cache.ts";
import type { StateFolder } from "../store/state-folder.ts";
import type { Workspace } from "../store/workspace.ts";
import type { Result } from "./result.ts";

export type RunEvent =
  | { kind: "started"; instance: Instance; reasons: Reason[]; log: string; expectedMs: number | undefined }
  /** `holder` does the same work, or holds `wanted`. */
  | { kind: "waiting"; instance: Instance; holder: string; wanted?: string }
  | {
      kind: "ended";
      instance: Instance;
      outcome: Outcome;
      reasons: Reason[];
      durationMs: number;
      log?: string;
    }
  /** A service answers at `url` for the first time. */
  | { kind: "serving"; instance: Instance; url: string }
  /** Its result is in the remote cache, and is loaded. */
  | { kind: "loading"; instance: Instance; bytes: number }
  /** An attempt continues without the interrupted run; `name` is the name of its folder. */
  | { kind: "left"; instance: Instance; name: string }
  /** The lease belonged to a host that has been silent for `silentMs`. */
  | { kind: "taken-over"; instance: Instance; owner: Owner; silentMs: number }
  /** This run follows an attempt that another run began. */
  | { kind: "adopted"; instance: Instance; since: string | undefined; resumed?: boolean }
  /** An undeclared read of the attempt's script, and the way out. */
  | { kind: "undeclared"; instance: Instance; what: string; help: string }
  /**
   * The instance is tried again: the machine failed, a source may have changed while it ran, or (`remade`) an
   * input is missing from the store and is made again.
   */
  | { kind: "retried"; instance: Instance; detail: string; remade: boolean }
  /** A device that the instance could have used, but that is unfit. */
  | { kind: "gpu-left-out"; instance: Instance; gpu: Pick<Gpu, "index" | "uuid">; why: string };

export type RunOptions = {
  plan: Plan;
  /** Indices of the instances to bring up to date, in plan order. */
  selected: number[];
  workspace: Workspace;
  /** Results of instances that are not selected, by plan index. */
  given?: ReadonlyMap<number, Result>;
  /** Loaded when the first stage starts: a run that reuses everything needs none. */
  executors: Record<string, (at: ExecutorPlace) => Promise<Executor>>;
  /** The programs that supervise attempts elsewhere, by the executor of the attempt's stage. Absolute. */
  supervisors?: Record<string, string>;
  /** CPU slots. */
  jobs?: number | undefined;
  failFast: boolean;
  stale: StalePolicy;
  /** Whether attempts that a silent host holds are taken over; see lease. */
  takeOver?: boolean;
  /** Whether untrusted programs may run without a sandbox. */
  unsafeLocal?: boolean;
  /** Whether untrusted programs may run where only polls limit their memory. */
  weakLimits?: boolean;
  clearSandbox?: ClearSandbox | undefined;
  /** Action keys of attempts that were running when the cost of this run was confirmed; see goingKeys. */
  going?: ReadonlySet<string>;
  /** Where results of other machines are looked for before a stage is executed. */
  remote?: RemoteCache | undefined;
  /** The spending limits of all attempts together, from the command line. */
  purse?: RunPurse | undefined;
  /** Time without a heartbeat after which another host is silent. */
  silentMs?: number | undefined;
  onEvent: (event: RunEvent) => void;
};

/** The place of a run for its executors. An executor marks its processes with the run's name. */
type ExecutorPlace = { run: string; state: StateFolder };

export type RunPurse = {
  /** `MODEL=INPUT/OUTPUT[/CACHED]`, for models whose price is in no table. */
  prices: string[];
  /** Hard limit of all attempts that the run starts; undefined: none. */
  maxDollars?: number;
};

/**
 * Ends and removes the rest of the sandbox with this mark, once its supervisor is dead. `executor` chose the
 * sandbox.
 */
export type ClearSandbox = (token: string, executor: string) => Promise<void>;

/** The treatment of an attempt whose record was made from inputs that have changed since. */
export type StalePolicy =
  /** Neither runs nor uses the attempt, and the run reports so. */
  | { kind: "leave" }
  | { kind: "rerun" }
  /** The old record counts, and the tables say why. */
  | { kind: "accept"; why: string };

/** The outcome of a stale attempt that is left unchanged. */
export const leftStale: Outcome = {
  kind: "skipped",
  because: "a decision: its record is stale (--rerun, or --accept-stale with a reason)",
};

export type RunHandle = {
  run: string;
  /** Results by plan index; undefined where not selected. */
  finished: Promise<(Result | undefined)[]>;
  /** The same while the run goes on: undefined where an instance has not ended. */
  results(): (Result | undefined)[];
  /** The resources that startable instances wait for. */
  queued(): Queued[];
  /**
   * First call: starts nothing new and asks running stages to end. Second call: kills them. Attempts continue
   * without a run in both cases.
   */
  interrupt(): void;
};
