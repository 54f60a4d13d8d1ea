// The score over time at a task: for each agent and share of the budget, the submissions as they were then. A
// failed checkpoint counts as the trivial baseline. Nothing here is the best of several scores on the test items:
// an agent does not see them, so it could not have chosen that submission. Pure.

import { atLeastBaseline } from "@mlrb/core/statistics/at-least-baseline";
import { mean, standardDeviation } from "@mlrb/core/statistics/mean";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { rowError, scoreError } from "../sections/digits-text.ts";
import { changedOverTime, checkpointCounting } from "./counting.ts";

export type ScoreOverTime = NonNullable<ReturnType<typeof scoreOverTime>>;

/** An agent at one share of the budget. Values are in the metric's unit. */
export type AtShare = {
  agent: string;
  share: number;
  /** Null without a value, or where an attempt failed and the trivial baseline is unknown. */
  mean: number | null;
  /** The lowest and highest attempt behind the mean: no interval covers a mean with failed attempts. */
  range: [number, number] | null;
  /** Of the mean, for its digits; null if unknown. */
  error: number | null;
  planned: number;
  measured: number;
  /** Of the measured attempts: without a submission yet. */
  none: number;
  /** Of the measured attempts: rejected or disqualified. */
  failed: number;
};

/** Readers compare agents at these shares; a share without a checkpoint is "not measured". */
export const comparedShares = [0.1, 0.25, 0.5, 0.75, 1];

/** Undefined where no attempt's submission changed over time. `shares` are the planned ones. */
export function scoreOverTime(report: Report, task: string) {
  const attempts = report.attempts.filter((attempt) => attempt.task === task);
  const primary = report.tasks.find(({ name }) => name === task)?.primary ?? null;
  if (primary === null || !attempts.some(changedOverTime)) return undefined;
  const cell = report.cells.find((each) => each.task === task && each.primary);
  const baselineError = (cell && rowError(report.rows, cell, cell.baselineName)) ?? 0;
  const planned = attempts.flatMap(({ checkpoints }) => checkpoints.map(({ share }) => share));
  const shares = [...new Set(planned)].sort((a, b) => a - b);
  const budgets = new Set(attempts.map(({ budget }) => budget?.timeMs ?? null));
  const [budgetMs] = budgets;
  const agents = [...Map.groupBy(attempts, ({ agent }) => agent)].map(([agent, own]) => ({
    agent,
    at: shares.map((share) => atShare(own, { agent, share, metric: primary, cell, baselineError })),
  }));
  return {
    ...{ task, metric: primary, shares, agents, cell },
    /** Null where it is unknown, or differs between the attempts. */
    budgetMs: budgets.size === 1 ? (budgetMs ?? null) : null,
  };
}

type Place = { agent: string; share: number; metric: string; cell: Cell | undefined; baselineError: number };

function atShare(own: Attempt[], place: Place): AtShare {
  const { agent, share, metric, cell, baselineError } = place;
  const { baseline = null, direction = "higher" } = cell ?? {};
  const ways = own.flatMap((attempt): { because?: string; value: number | null; error: number }[] => {
    const checkpoint = attempt.checkpoints.find((one) => one.share === share);
    if (checkpoint === undefined) return [];
    const way = checkpointCounting(attempt, checkpoint, metric);
    if (way.kind === "missing") return [];
    if (way.kind === "failed") return [{ because: way.because, value: baseline, error: baselineError }];
    const error = scoreError((share === 1 ? attempt : checkpoint).scores[metric]) ?? 0;
    return [{ value: atLeastBaseline(way.value, { baseline: baseline ?? undefined, direction }), error }];
  });
  const values = ways.map(({ value }) => value).filter((value) => value !== null);
  const isKnown = values.length > 0 && values.length === ways.length;
  const root = Math.sqrt(values.length);
  const failures = ways.filter(({ because }) => because !== undefined);
  const none = failures.filter(({ because }) => because === "none").length;
  return {
    ...{ agent, share, planned: own.length, measured: ways.length },
    mean: isKnown ? (mean(values) ?? null) : null,
    range: isKnown ? [Math.min(...values), Math.max(...values)] : null,
    // over attempts or over items, whichever is larger
    error: Math.max(standardDeviation(values) ?? 0, ...ways.map(({ error }) => error)) / root || null,
    ...{ none, failed: failures.length - none },
  };
}
