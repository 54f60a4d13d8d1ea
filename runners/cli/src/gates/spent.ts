// Compares what attempts cost with their estimates at the end of a run, so that the person who agreed to an
// estimate sees how good it was. Only attempts with both are compared.

import { counted } from "@mlrb/core/text/counted";
import type { AttemptCost } from "@mlrb/formats/attempt/attempt-record";
import type { CostEstimate } from "@mlrb/local/records/estimate-cost";

/** One attempt that ran. `cost` is null without a record: it failed or was stopped. */
export type Attempted = {
  estimate: CostEstimate;
  cost: AttemptCost | null;
  /** The cost of a quarantined attempt. */
  lost?: AttemptCost;
  durationMs: number;
};

/** Sums; null is unknown. A sum is unknown if one of its parts is. */
type Compared = { estimated: number | null; actual: number | null };

export type Spent = NonNullable<ReturnType<typeof spent>>;

/** undefined if no attempt ran. */
export function spent(attempted: Attempted[]) {
  if (attempted.length === 0) return undefined;
  const recorded = attempted.filter(({ cost }) => cost !== null);
  const unknown = attempted.filter(({ cost, lost, estimate }) => cost === null && !lost && mayCost(estimate));
  const lost = attempted.flatMap((one) => one.lost ?? []);
  const sum = (value: (one: Attempted) => number | null) => total(recorded.map(value));
  const from = attempted.map(({ estimate }) => estimate.from);
  return {
    /** Recorded attempts, which are compared. */
    attempts: recorded.length,
    /** Attempts of unknown cost that left no record. */
    unrecorded: unknown.length,
    ...(lost.length > 0 && { lost: { attempts: lost.length, ...costSum(lost) } }),
    gpuHours: { estimated: sum((one) => one.estimate.gpuHours), actual: sum((one) => one.cost!.gpuHours) },
    dollars: { estimated: sum((one) => one.estimate.dollars), actual: sum(dollarsOf) },
    timeMs: { estimated: sum((one) => one.estimate.timeMs), actual: sum((one) => one.durationMs) },
    /** From how many earlier attempts each was estimated; 0: from its budget, which is an upper bound. */
    from: { least: Math.min(...from), most: Math.max(...from) },
  };
}

/** A part is null if it is unknown of one of them. */
export function costSum(costs: AttemptCost[]): AttemptCost {
  return {
    gpuHours: total(costs.map(({ gpuHours }) => gpuHours)),
    dollars: total(costs.map(({ dollars }) => dollars)),
  };
}

/** Null if one of them is unknown. */
export function total(values: (number | null)[]): number | null {
  return values.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
}

function mayCost({ gpuHours, dollars }: CostEstimate): boolean {
  return gpuHours !== 0 || dollars !== 0;
}

/** If the estimate was 0 dollars, dollars missing from the ledger are 0. */
function dollarsOf({ cost, estimate }: Attempted): number | null {
  return cost!.dollars ?? (estimate.dollars === 0 ? 0 : null);
}

/**
 * `2 attempts took 47.1 GPU hours (estimated 48.0 from 3 earlier attempts: 2 % less) and 86.20 dollars
 * (…)`; undefined if cost and estimate are 0.
 */
export function spentWords(spent: Spent): string | undefined {
  const { attempts, unrecorded, from } = spent;
  const took = [
    ...comparedWords(spent.gpuHours, { from, unit: "GPU hours", digits: 1 }),
    ...comparedWords(spent.dollars, { from, unit: "dollars", digits: 2 }),
  ];
  const said = took.length > 0 ? [`${counted(attempts, "attempt")} took ${took.join(" and ")}`] : [];
  if (spent.lost && (spent.lost.gpuHours !== 0 || spent.lost.dollars !== 0))
    said.push(`${counted(spent.lost.attempts, "attempt")} without a record cost ${amountWords(spent.lost)}`);
  if (unrecorded > 0)
    said.push(`the cost of ${counted(unrecorded, "attempt")} that did not finish is unknown`);
  return said.length > 0 ? said.join("; ") : undefined;
}

/** `1.5 GPU hours and 0.40 dollars`; an amount of 0 is left out, and two of them are `nothing`. */
export function amountWords({ gpuHours, dollars }: AttemptCost): string {
  const parts = [
    ...(gpuHours === 0 ? [] : [amountOf(gpuHours, "GPU hours", 1)]),
    ...(dollars === 0 ? [] : [amountOf(dollars, "dollars", 2)]),
  ];
  return parts.join(" and ") || "nothing";
}

function amountOf(amount: number | null, unit: string, digits: number): string {
  return `${amount === null ? "an unknown number of" : amount.toFixed(digits)} ${unit}`;
}

type How = { from: Spent["from"]; unit: string; digits: number };

/** Empty if cost and estimate are 0. */
function comparedWords({ estimated, actual }: Compared, { from, unit, digits }: How): string[] {
  if (estimated === 0 && actual === 0) return [];
  const took = amountOf(actual, unit, digits);
  // a budget of 0 bounds nothing that it did not expect
  const isBound = estimated !== 0 || from.least > 0;
  if (estimated === null || !isBound) return [`${took} (no estimate)`];
  return [`${took} (${estimateWords(estimated.toFixed(digits), from)}${errorWords(estimated, actual)})`];
}

function estimateWords(amount: string, { least, most }: Spent["from"]): string {
  if (most === 0) return `at most ${amount} by budget`;
  if (least === 0) return `at most ${amount}, from up to ${most} earlier attempts and by budget`;
  return `estimated ${amount} from ${least === most ? most : `${least} to ${most}`} earlier attempt${most === 1 ? "" : "s"}`;
}

function errorWords(estimated: number, actual: number | null): string {
  if (actual === null || estimated === 0) return "";
  const percent = Math.round((100 * (actual - estimated)) / estimated);
  return percent === 0 ? ": as estimated" : `: ${Math.abs(percent)} % ${percent < 0 ? "less" : "more"}`;
}
