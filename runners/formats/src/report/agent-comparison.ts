// Two agents over all tasks, in report.json: the primary test, the tests of single tasks, the test of real pairs if any,
// and the difference that a run of this size can detect.
import {
  anyText,
  count,
  kindsOf,
  kindsWith,
  listOf,
  nullable,
  number,
  oneOf,
  pairOf,
  type TypeOf,
  wholeObject,
} from "../schema.ts";

/** `Tested` of @mlrb/core. */
const tested = {
  p: {
    ...number,
    description: "two-sided: the share of random label swaps that leave the agents at least as far apart",
  },
  pMin: {
    ...number,
    description:
      "the smallest p that these values can give under any labels (if drawn: with this many draws)",
  },
  method: kindsOf(
    wholeObject({ kind: { const: "exact" } }),
    wholeObject({
      kind: { const: "drawn" },
      permutations: count,
      seed: number,
      standardError: { ...number, description: "of p, from the number of draws" },
    }),
  ),
} as const;

const superiorityInterval = {
  ...pairOf(number),
  description: "95 % interval of P(A is better than B), with the largest variance that is possible",
} as const;

const taskComparison = kindsWith(
  {
    task: anyText,
    metric: anyText,
    attempts: pairOf(count),
    superiority: number,
    interval: superiorityInterval,
    pMin: {
      ...number,
      description: "the smallest p that these values can give under any labels, before Holm",
    },
  },
  wholeObject({ kind: { const: "tested" }, p: number }),
  wholeObject({ kind: { const: "too-few" } }),
);
export type TaskComparison = TypeOf<typeof taskComparison>;

const pairedComparison = {
  ...kindsOf(
    wholeObject({
      kind: { const: "tested" },
      statistic: {
        ...number,
        description: "the mean over tasks of the share of pairs in which A is better, ties half",
      },
      pairs: { ...count, description: "pairs of the same two submissions count once" },
      tasks: count,
      ...tested,
    }),
    wholeObject({ kind: { const: "not-paired" }, why: anyText }),
  ),
  description: "the sign-flip test, if both agents are seeded, so that attempts with equal seeds are pairs",
} as const;
export type PairedComparison = TypeOf<typeof pairedComparison>;

const detectable = kindsOf(
  wholeObject({
    kind: { const: "detectable" },
    superiority: {
      ...number,
      description: "the P(A is better than B) at every task that is detected with this power",
    },
    normalShift: {
      ...number,
      description: "distance of the means of two normal distributions with this P, in standard deviations",
    },
  }),
  {
    ...wholeObject({ kind: { const: "undetectable" }, pMin: number }),
    description: "no result of this design has p ≤ alpha",
  },
  wholeObject({ kind: { const: "too-large-to-compute" } }),
);
export type Detectable = TypeOf<typeof detectable>;

const comparisonDesign = {
  ...nullable(
    wholeObject({
      tasks: count,
      attempts: {
        ...pairOf(count),
        description: "per agent and task; the fewest over tasks if they differ",
      },
      together: { ...detectable, description: "all tasks taken together" },
      first: { ...detectable, description: "one task, as the first of all under Holm's correction" },
    }),
  ),
  description: "what the planned attempts can detect with power 0.8 at level 0.05",
} as const;
export type ComparisonDesign = TypeOf<typeof comparisonDesign>;

const difference = {
  ...kindsOf(
    wholeObject({
      kind: { const: "difference" },
      tasks: listOf(anyText),
      value: number,
      interval: {
        ...nullable(pairOf(number)),
        description: "95 %, by inverting the permutation test of labels within tasks",
      },
      withheld: {
        ...nullable(oneOf("too-few", "no-spread")),
        description: "why there is no interval; null if there is one",
      },
    }),
    wholeObject({ kind: { const: "none" }, why: anyText }),
  ),
  description:
    "mean over tasks of the first agent's normalised intention-to-treat mean minus the second's, at tasks whose reference models are of one kind",
} as const;
export type AgentDifference = TypeOf<typeof difference>;

export const agentComparison = wholeObject({
  agents: {
    ...pairOf(anyText),
    description: "the first is A; P(A is better than B) is over 0.5 if A does better",
  },
  leftOut: {
    ...listOf(wholeObject({ task: anyText, why: anyText })),
    description: "tasks that are left out, and why",
  },
  difference,
  overall: {
    ...kindsOf(
      wholeObject({
        kind: { const: "tested" },
        statistic: number,
        interval: superiorityInterval,
        tasks: count,
        ...tested,
      }),
      wholeObject({ kind: { const: "untestable" } }),
    ),
    description:
      "the primary test: labels permuted within tasks, over the counted values of each task's primary metric; " +
      "`statistic` is the mean over tasks of P(A is better than B), ties half",
  },
  tasks: {
    ...listOf(taskComparison),
    description: "the same test of each task alone, adjusted by Holm over the tasks of all pairs",
  },
  pairs: pairedComparison,
  design: comparisonDesign,
});
export type AgentComparison = TypeOf<typeof agentComparison>;
