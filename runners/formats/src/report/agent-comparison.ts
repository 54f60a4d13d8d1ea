// Two agents over all tasks, in report.json: the primary test, the tests of single tasks, the test of real pairs
// if any, and the difference that a run of this size can detect.
import * as t from "../schema.ts";

/** `Tested` of @mlrb/core. */
const tested = {
  p: t.about(
    t.number,
    "two-sided: the share of random label swaps that leave the agents at least as far apart",
  ),
  pMin: t.about(
    t.number,
    "the smallest p that these values can give under any labels (if drawn: with this many draws)",
  ),
  method: t.kindsOf(
    t.variant("exact"),
    t.variant("drawn", {
      permutations: t.count,
      seed: t.number,
      standardError: t.about(t.number, "of p, from the number of draws"),
    }),
  ),
} as const;

const superiorityInterval = t.about(
  t.pairOf(t.number),
  "95 % interval of P(A is better than B), with the largest variance that is possible",
);

const taskComparison = t.kindsWith(
  {
    task: t.anyText,
    metric: t.anyText,
    attempts: t.pairOf(t.count),
    superiority: t.number,
    interval: superiorityInterval,
    pMin: t.about(t.number, "the smallest p that these values can give under any labels, before Holm"),
  },
  t.variant("tested", { p: t.number }),
  t.variant("too-few"),
);
export type TaskComparison = t.TypeOf<typeof taskComparison>;

const pairedComparison = t.about(
  t.kindsOf(
    t.variant("tested", {
      statistic: t.about(
        t.number,
        "the mean over tasks of the share of pairs in which A is better, ties half",
      ),
      pairs: t.about(t.count, "pairs of the same two submissions count once"),
      tasks: t.count,
      ...tested,
    }),
    t.variant("not-paired", { why: t.anyText }),
  ),
  "the sign-flip test, if both agents are seeded, so that attempts with equal seeds are pairs",
);
export type PairedComparison = t.TypeOf<typeof pairedComparison>;

const detectable = t.kindsOf(
  t.variant("detectable", {
    superiority: t.about(
      t.number,
      "the P(A is better than B) at every task that is detected with this power",
    ),
    normalShift: t.about(
      t.number,
      "distance of the means of two normal distributions with this P, in standard deviations",
    ),
  }),
  t.about(t.variant("undetectable", { pMin: t.number }), "no result of this design has p ≤ alpha"),
  t.variant("too-large-to-compute"),
);
export type Detectable = t.TypeOf<typeof detectable>;

const comparisonDesign = t.about(
  t.nullable(
    t.wholeObject({
      tasks: t.about(t.count, "those with the most attempts, where tasks differ"),
      attempts: t.about(t.pairOf(t.count), "per agent at each of these tasks"),
      together: t.about(detectable, "these tasks taken together"),
      first: t.about(detectable, "one task, as the first of all under Holm's correction"),
    }),
  ),
  "what the planned attempts can detect with power 0.8 at level 0.05",
);
export type ComparisonDesign = t.TypeOf<typeof comparisonDesign>;

const difference = t.about(
  t.kindsOf(
    t.variant("difference", {
      tasks: t.listOf(t.anyText),
      value: t.number,
      interval: t.about(
        t.nullable(t.pairOf(t.number)),
        "95 %, by inverting the permutation test of labels within tasks",
      ),
      withheld: t.about(
        t.nullable(t.oneOf("too-few", "no-spread")),
        "why there is no interval; null if there is one",
      ),
    }),
    t.variant("none", { why: t.anyText }),
  ),
  "mean over tasks of the first agent's normalised intention-to-treat mean minus the second's, at tasks whose reference models are of one kind",
);
export type AgentDifference = t.TypeOf<typeof difference>;

export const agentComparison = t.wholeObject({
  agents: t.about(t.pairOf(t.anyText), "the first is A; P(A is better than B) is over 0.5 if A does better"),
  leftOut: t.about(
    t.listOf(t.wholeObject({ task: t.anyText, why: t.anyText })),
    "tasks that are left out, and why",
  ),
  difference,
  overall: t.about(
    t.kindsOf(
      t.variant("tested", { statistic: t.number, interval: superiorityInterval, tasks: t.count, ...tested }),
      t.variant("untestable"),
    ),
    "the primary test: labels permuted within tasks, over the counted values of each task's primary metric; " +
      "`statistic` is the mean over tasks of P(A is better than B), ties half",
  ),
  tasks: t.about(
    t.listOf(taskComparison),
    "the same test of each task alone, adjusted by Holm over the tasks of all pairs",
  ),
  pairs: pairedComparison,
  design: comparisonDesign,
});
export type AgentComparison = t.TypeOf<typeof agentComparison>;
