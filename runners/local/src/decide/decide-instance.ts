// Decides whether an instance would run. `run`, `plan`, `status` and `explain` all call this function, so they
// cannot disagree. Reads the state and writes only memories that save time.

import type { Reason } from "@mlrb/core/key/reasons";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { HeldRecord } from "../records/attempt-records.ts";
import { decisionFailure } from "../run/instance-ends.ts";
import type { BindContext } from "../run/result.ts";
import { leftStale, type StalePolicy } from "../run/run-request.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Bound, bind } from "./bind-inputs.ts";
import { type CachedAction, type CacheSearch, findCachedAction, foundRecord } from "./find-cached-action.ts";
import {
  reasonsToReuse,
  reasonsToRun,
  staleReason,
  undecidedFailure,
  undecidedReasons,
} from "./run-reasons.ts";
import { keptResult, type ThinnedInput, thinnedInput, thinnedOutcome } from "./thinned-inputs.ts";

export type Decision = { reasons: Reason[]; bound?: Bound } & (
  | { action: "reuse"; cached: CachedAction; note?: string }
  /** `runner`: plan index of the instance that runs the same action in this run. */
  | { action: "same"; runner: number }
  /** `stale`: the record in the slot has other key parts, and the policy is to rerun it. */
  | { action: "run"; stale: boolean }
  /** Neither used nor run: a stale record, or a stage whose weights were removed. */
  | { action: "leave"; outcome: Outcome }
  | { action: "fail"; outcome: Outcome & { kind: "failed" } }
);

export type DecideContext = BindContext & {
  stale: StalePolicy;
  /** Action key → plan index of the instance that runs the action in this run. A decision to run adds an entry. */
  runners: Map<string, number>;
};

/**
 * `results` holds everything that the instance depends on. An error in binding or in the cache search fails only
 * this instance.
 */
export async function decideInstance(instance: Instance, context: DecideContext): Promise<Decision> {
  let bound: Bound | undefined;
  try {
    bound = await bind(instance, context);
    // a service is asked about only once an instance that runs uses it, and makes nothing that could be reused
    if (instance.execution.service)
      return { action: "run", stale: false, reasons: [{ kind: "used" }], bound };
    return { ...decideBound(instance, bound, context), bound };
  } catch (error) {
    return { ...failedDecision(error), ...(bound && { bound }) };
  }
}

/** The decision for an instance whose binding or search threw. */
export function failedDecision(error: unknown): Decision {
  const outcome = decisionFailure(error);
  return { action: "fail", outcome, reasons: [{ kind: "cannot-start", detail: outcome.detail }] };
}

function decideBound(instance: Instance, bound: Bound, context: DecideContext): Decision {
  const { plan, workspace, stale, runners } = context;
  const found = findCachedAction(instance, bound, context);
  if (found.kind === "found")
    return { action: "reuse", cached: found.cached, reasons: reasonsToReuse(found.cached) };
  if (found.kind === "undecided") return undecidedDecision(found, bound, context);
  const accepts = found.kind === "stale" && stale.kind === "accept" && isSameCondition(found.held, bound);
  if (accepts) return acceptStale(found.held, stale.why, workspace);
  if (found.kind === "stale" && stale.kind !== "rerun")
    return {
      action: "leave",
      outcome: leftStale,
      reasons: [staleReason(instance, bound, { ...found, plan }), ...undecidedReasons(found)],
    };
  const thinned = thinnedInput(bound, workspace);
  if (thinned) return thinnedDecision(thinned, instance, bound, context);
  // An action runs once in a run: other instances with its key wait and reuse its outputs. From here on this
  // function is synchronous, since a run decides several instances at once.
  const runner = runners.get(bound.key);
  if (runner !== undefined)
    return { action: "same", runner, reasons: [{ kind: "same-action", stage: plan.instances[runner]!.id }] };
  const reasons = reasonsToRun(instance, bound, { ...context, found });
  runners.set(bound.key, instance.index);
  return { action: "run", stale: found.kind === "stale", reasons };
}

/** The weights that it would read are gone. What it made of them earlier counts only if a person accepts that. */
function thinnedDecision(
  thinned: ThinnedInput,
  instance: Instance,
  bound: Bound,
  { workspace, stale }: DecideContext,
): Decision {
  const kept = stale.kind === "accept" && keptResult(instance, bound, thinned, workspace);
  if (!kept) return { action: "leave", outcome: thinnedOutcome(thinned), reasons: [thinned] };
  const note = `thinned, its earlier result accepted: ${stale.why}`;
  return { action: "reuse", cached: kept, note, reasons: [thinned] };
}

/** The attempt neither runs nor uses any of the records, except the stale one that the policy accepts. */
function undecidedDecision(
  found: CacheSearch & { kind: "undecided" },
  bound: Bound,
  { workspace, stale }: DecideContext,
): Decision {
  const reasons = undecidedReasons(found);
  if (found.held && stale.kind === "accept" && isSameCondition(found.held, bound)) {
    const accepted = acceptStale(found.held, stale.why, workspace);
    return { ...accepted, reasons: [...accepted.reasons, ...reasons] };
  }
  return { action: "fail", outcome: undecidedFailure(found), reasons };
}

/** Attempts with another network are another condition: no mean holds both, even if a person accepts one. */
function isSameCondition({ record }: HeldRecord, { parts }: Bound): boolean {
  return record.parts.network === parts.network;
}

function acceptStale(held: HeldRecord, why: string, workspace: Workspace): Decision {
  return {
    action: "reuse",
    cached: foundRecord(held, workspace),
    note: `stale, accepted: ${why}`,
    reasons: [{ kind: "stale-accepted", record: held.digest, why }],
  };
}
