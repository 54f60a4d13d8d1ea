// The options of `pipeline run`.
import type { CostOptions } from "../gates/cost-gate.ts";
import type { StaleOptions } from "../gates/stale-policy.ts";
import type { CommonOptions } from "./request.ts";

export type RunCommandOptions = CommonOptions &
  StaleOptions &
  CostOptions & {
    jobs?: string;
    failFast?: boolean;
    takeOver?: boolean;
    unsafeLocal?: boolean;
    weakLimits?: boolean;
    audit?: boolean;
  };

/** A run's request: the same request has the same result while nothing changes. */
export type RunInvocation = { repository: string; root: string; request: unknown };
