// Estimates the cost of an attempt: the median of earlier attempts by the same agent on the same task with the
// same budget. Without such attempts, the most that its budget and devices allow. An unknown cost is unknown,
// never zero.

import type { Instance } from "@mlrb/core/plan/plan";
import type { AttemptRecord, CostEstimate } from "@mlrb/formats/attempt/attempt-record";
import { actingPresets } from "@mlrb/formats/declared/agent-preset";
import { isUndisturbed } from "@mlrb/formats/declared/intervention";
import { isTable } from "@mlrb/formats/is-table";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Workspace } from "../store/workspace.ts";

export type { CostEstimate };

/**
 * Uses only attempts from before this run, so that an estimate that the user confirmed does not change during the
 * run.
 */
export function estimateCost(instance: Instance, { attempts }: Pick<Workspace, "attempts">): CostEstimate {
  const earlier = attempts.alike(instance.stage.name, instance.axes).map(({ record }) => record);
  // a smoke attempt of minutes is no estimate for an attempt with a budget of a day
  const budget = canonicalJson(instance.action.budget);
  return estimateFrom(
    instance,
    // an extended attempt used more than its budget
    earlier.filter((record) => canonicalJson(record.parts.budget) === budget && isUndisturbed(record)),
  );
}

type Earlier = Pick<AttemptRecord, "cost" | "ran">;

export function estimateFrom(
  { action, execution }: Pick<Instance, "action" | "execution">,
  earlier: Earlier[],
): CostEstimate {
  const gpuHours = median(earlier.map(({ cost }) => cost.gpuHours));
  const dollars = median(earlier.map(({ cost }) => cost.dollars));
  const { gpus } = execution.resources;
  const allowedMs = action.budget.timeMs ?? execution.limits.timeMs;
  return {
    gpuHours: gpuHours ?? (gpus === 0 ? 0 : allowedMs === undefined ? null : (gpus * allowedMs) / 3_600_000),
    dollars: dollars ?? (isPaid(action) ? (action.budget.dollars ?? null) : 0),
    timeMs: median(earlier.map(({ ran }) => ran.durationMs)) ?? allowedMs ?? null,
    from: earlier.length,
  };
}

/** The estimate for a run with every key, since one without them would be refused: each call has a price. */
export function withKeys({ action }: Pick<Instance, "action">, cost: CostEstimate): CostEstimate {
  const isNew = cost.from === 0 && isPaid(action, () => true);
  return isNew ? { ...cost, dollars: action.budget.dollars ?? null } : cost;
}

/**
 * Whether someone may bill an attempt: for a model that is not declared `free: true`, with or without a key;
 * without a model, through a secret that it gets.
 */
export function isPaid(
  { params, secrets }: Pick<Instance["action"], "params" | "secrets">,
  isSet = (name: string) => process.env[name] !== undefined,
): boolean {
  const callers = actingPresets(params);
  return callers.some(({ kind, model, planner, gateway, secrets: own }) => {
    const ofProgram = kind === "command" && Array.isArray(gateway) ? gateway : [];
    const models = (kind === "llm" ? [model, planner] : ofProgram).filter((one) => isTable(one));
    if (models.length > 0) return models.some(({ free }) => free !== true);
    // of a team, a member's own; the others' keys are their models'
    const handed =
      callers.length > 1 ? secrets.filter((one) => Array.isArray(own) && own.includes(one)) : secrets;
    return handed.some(isSet);
  });
}

function median(values: (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (known.length === 0) return undefined;
  const middle = known.length >> 1;
  return known.length % 2 === 1 ? known[middle]! : (known[middle - 1]! + known[middle]!) / 2;
}
