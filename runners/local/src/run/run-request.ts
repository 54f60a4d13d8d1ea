// The options of a run, and the events that it reports.

import type { Reason } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Executor } from "@mlrb/core/ports/executor";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { Queued } from "@mlrb/core/schedule/queued-for";
import type { Owner } from "@mlrb/formats/stage/process-owner";
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
  /** An attempt goes on without the run, which was interrupted; `name` is its folder's. */
  | { kind: "left"; instance: Instance; name: string }
  /** Its lease was that of a host that has been silent for so long. */
  | { kind: "taken-over"; instance: Instance; owner: Owner; silentMs: number }
  /** An attempt that another run began goes on in this one; `underCap`: under the cap that this one has, if any. */
  | { kind: "adopted"; instance: Instance; since: string | undefined; underCap: boolean }
  /** What its script read although nothing declares it, and the way out. */
  | { kind: "undeclared"; instance: Instance; what: string; help: string }
  /** It is tried again: the machine failed it, or (`remade`) what it reads is gone from the store and is made again. */
  | { kind: "retried"; instance: Instance; detail: string; remade: boolean }
  /** A device that it could have had, and that is not fit to be used. */
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
  /** CPU slots. */
  jobs?: number | undefined;
  failFast: boolean;
  stale: StalePolicy;
  /** Whether attempts that a silent host holds are taken over; see lease. */
  takeOver?: boolean;
  /** Whether untrusted programs may run without a sandbox. */
  unsafeLocal?: boolean;
  clearSandbox?: ClearSandbox;
  /** Action keys of the attempts that went on when it was agreed what this run may cost; see goingKeys. */
  going?: ReadonlySet<string>;
  /** What attempts may spend together, by the command line. */
  purse?: RunPurse;
  /** After how long without a heartbeat another host is silent. */
  silentMs?: number | undefined;
  onEvent: (event: RunEvent) => void;
};

/** What an executor of this run may want to know; it marks what it starts with the run's name. */
type ExecutorPlace = { run: string; state: StateFolder };

export type RunPurse = {
  /** `MODEL=INPUT/OUTPUT`, for models whose price is in no table. */
  prices: string[];
  /** Hard limit of all attempts that the run starts; undefined: none. */
  maxDollars?: number;
};

/** Ends and removes what is left of the sandbox with this mark, once its supervisor is dead; `executor` chose it. */
export type ClearSandbox = (token: string, executor: string) => Promise<void>;

/** What becomes of an attempt whose record was made from other things than it would be now. */
export type StalePolicy =
  /** Nothing: it is neither run nor used, and the run says so. */
  | { kind: "leave" }
  | { kind: "rerun" }
  /** The old record counts, and the tables say why. */
  | { kind: "accept"; why: string };

/** How a stale attempt ends that is left as it is. */
export const leftStale: Outcome = {
  kind: "skipped",
  because: "a decision: its record is stale (--rerun, or --accept-stale with a reason)",
};

export type RunHandle = {
  run: string;
  /** Results by plan index; undefined where not selected. */
  finished: Promise<(Result | undefined)[]>;
  /** What instances wait for that could start now. */
  queued(): Queued[];
  /**
   * Once: nothing new starts, what runs is asked to end. Twice: it is killed. Attempts are left to go on without
   * a run either way.
   */
  interrupt(): void;
};
