// The options of `pipeline run`.
import type { CostOptions } from "../gates/cost-gate.ts";
import type { StaleOptions } from "../gates/gate.ts";
import type { CommonOptions } from "./request.ts";

export type RunCommandOptions = CommonOptions &
  StaleOptions &
  CostOptions & {
    jobs?: string;
    failFast?: boolean;
    takeOver?: boolean;
    unsafeLocal?: boolean;
    weakLimits?: boolean;
    remoteCache?: RemoteMode;
    /** A shell command that gets events. */
    onEvent?: string;
  };

/** What a run does with the remote cache. */
export const remoteModes = ["off", "read", "read-write"] as const;
export type RemoteMode = (typeof remoteModes)[number];

/** A run's request: the same request has the same result while nothing changes. */
export type RunInvocation = { repository: string; root: string; request: unknown };
