// One number over tasks, and its dependence on single tasks. Tasks are the benchmark, not a sample from a
// population of tasks, so they are left out one at a time and never resampled.

import { assertFinite, finite } from "./finite.ts";
import { mean } from "./mean.ts";

/** The normalised, counted scores of one agent's attempts at a task. */
export type TaskScores = { task: string; values: readonly number[] };

export type AcrossTasks = {
  tasks: string[];
  /** Tasks without a value, which all other fields leave out. */
  without: string[];
  /** Unweighted mean over tasks of the mean over attempts. Undefined without tasks. */
  mean: number | undefined;
  /** The mean without each task in turn; empty for fewer than two tasks. */
  leaveOneOut: { without: string; mean: number }[];
  /** The mean of the middle half of all attempts, every task with the same weight. */
  interquartileMean: number | undefined;
};

/**
 * Normalised scores over tasks. Only agents with values at the same tasks can be compared: see `without`.
 * Throws on values that are not finite and on a repeated task.
 */
export function acrossTasks(scores: readonly TaskScores[]): AcrossTasks {
  const names = scores.map(({ task }) => task);
  if (new Set(names).size < names.length) throw new Error(`bug: a task appears twice in ${names.join(", ")}`);
  const used = scores.filter(({ values }) => values.length > 0);
  const means = used.map(({ task, values }) => ({ task, value: mean(values) }));
  const average = (of: typeof means) => {
    const known = of.flatMap(({ value }) => value ?? []);
    return known.length === of.length ? mean(known) : undefined;
  };
  return {
    tasks: used.map(({ task }) => task),
    without: scores.flatMap(({ task, values }) => (values.length === 0 ? [task] : [])),
    mean: average(means),
    leaveOneOut:
      means.length < 2
        ? []
        : means.flatMap(({ task }) => {
            const rest = average(means.filter((each) => each.task !== task));
            return rest === undefined ? [] : [{ without: task, mean: rest }];
          }),
    interquartileMean: interquartileMean(
      used.flatMap(({ values }) => values.map((value) => ({ value, weight: 1 / values.length }))),
    ),
  };
}

/**
 * The mean of the values between the lowest and the highest quarter of the weight; a value on an edge counts with
 * the part of its weight inside. With equal weights and a number of values divisible by four it is the 25 %
 * trimmed mean (Agarwal et al. 2021, section 4.3, there over attempts of all tasks). Undefined for none. Throws on
 * values or weights that are not finite or not positive.
 */
export function interquartileMean(values: readonly { value: number; weight: number }[]): number | undefined {
  assertFinite(
    values.map(({ value }) => value),
    "value",
  );
  const wrong = values.find(({ weight }) => !(weight > 0 && Number.isFinite(weight)));
  if (wrong) throw new Error(`bug: a weight of ${wrong.weight}`);
  const sorted = values.toSorted((a, b) => a.value - b.value);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  let kept = 0;
  let average = 0;
  for (const { value, weight } of sorted) {
    const inside = Math.min(before + weight, 0.75 * total) - Math.max(before, 0.25 * total);
    before += weight;
    if (inside <= 0) continue;
    kept += inside;
    average += (value - average) * (inside / kept);
  }
  return kept > 0 ? finite(average) : undefined;
}
