// What `pipeline run` is asked for.
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
    audit?: boolean;
  };

/** What a run was asked for: the same asked again, with nothing changed, has the same answer. */
export type RunInvocation = { repository: string; root: string; request: unknown };
