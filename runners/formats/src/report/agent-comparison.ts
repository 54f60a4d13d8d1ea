// Two agents over all tasks, in report.json: one primary test, what single tasks can tell, the test of pairs where
// there are real ones, and what a run of this size could have found.
import {
  anyText,
  count,
  kindsOf,
  listOf,
  nullable,
  number,
  pairOf,
  type TypeOf,
  wholeObject,
} from "../schema.ts";

/** What @mlrb/core's tests say: `Tested`. */
const tested = {
  p: {
    ...number,
    description: "two-sided: how often labels swapped at random leave the agents as far apart, or farther",
  },
  pMin: {
    ...number,
    description:
      "the smallest p that these values could give under any labels (when drawn: with this many draws)",
  },
  method: kindsOf(
    {},
    [],
    [
      wholeObject({ kind: { const: "exact" } }),
      wholeObject({
        kind: { const: "drawn" },
        permutations: count,
        seed: number,
        standardError: { ...number, description: "of p, from the number of draws" },
      }),
    ],
  ),
} as const;

const taskComparison = kindsOf(
  {
    task: anyText,
    metric: anyText,
    attempts: pairOf(count),
    superiority: number,
    pMin: {
      ...number,
      description: "the smallest p that these values could have under any labels, before Holm",
    },
  },
  ["task", "metric", "attempts", "superiority", "pMin"],
  [wholeObject({ kind: { const: "tested" }, p: number }), wholeObject({ kind: { const: "too-few" } })],
);
export type TaskComparison = TypeOf<typeof taskComparison>;

const pairedComparison = {
  ...kindsOf(
    {},
    [],
    [
      wholeObject({
        kind: { const: "tested" },
        statistic: {
          ...number,
          description: "the mean over tasks of the share of pairs in which A is better, ties half",
        },
        pairs: { ...count, description: "pairs of the same two submissions count as one" },
        tasks: count,
        ...tested,
      }),
      wholeObject({ kind: { const: "not-paired" }, why: anyText }),
    ],
  ),
  description: "the sign-flip test, where attempts with one seed are pairs by what the agents are",
} as const;
export type PairedComparison = TypeOf<typeof pairedComparison>;

const detectable = kindsOf(
  {},
  [],
  [
    wholeObject({
      kind: { const: "detectable" },
      superiority: {
        ...number,
        description: "the P(A is better than B) at every task that is found with the power asked for",
      },
      normalShift: {
        ...number,
        description:
          "how far apart the means of two normal distributions with this P are, in standard deviations",
      },
    }),
    {
      ...wholeObject({ kind: { const: "undetectable" }, pMin: number }),
      description: "no result of this design has a p of alpha or less",
    },
    wholeObject({ kind: { const: "too-large-to-compute" } }),
  ],
);
export type Detectable = TypeOf<typeof detectable>;

const comparisonDesign = {
  ...nullable(
    wholeObject({
      tasks: count,
      attempts: {
        ...pairOf(count),
        description: "of each agent at a task; the fewest of all tasks where they differ",
      },
      together: { ...detectable, description: "all tasks taken together" },
      first: { ...detectable, description: "one task, as the first under Holm's correction for all of them" },
    }),
  ),
  description:
    "what this many attempts could find with power 0.8 at level 0.05, as planned, whatever came of it",
} as const;
export type ComparisonDesign = TypeOf<typeof comparisonDesign>;

export const agentComparison = wholeObject({
  agents: {
    ...pairOf(anyText),
    description: "the first is A; P(A is better than B) is over 0.5 where it does better",
  },
  leftOut: {
    ...listOf(wholeObject({ task: anyText, why: anyText })),
    description: "tasks that take no part, and why",
  },
  equalSubmissions: {
    ...listOf(wholeObject({ task: anyText, agent: anyText })),
    description:
      "where valid attempts of an agent submitted the same: no independent ones, so p may be too small",
  },
  overall: {
    ...kindsOf(
      {},
      [],
      [
        wholeObject({ kind: { const: "tested" }, statistic: number, tasks: count, ...tested }),
        wholeObject({ kind: { const: "untestable" } }),
      ],
    ),
    description:
      "the primary test: labels permuted within tasks, over the counted values of each task's primary metric; " +
      "`statistic` is the mean over tasks of P(A is better than B), ties half",
  },
  tasks: {
    ...listOf(taskComparison),
    description: "the same test of each task alone, adjusted by Holm over these tasks",
  },
  pairs: pairedComparison,
  design: comparisonDesign,
});
export type AgentComparison = TypeOf<typeof agentComparison>;
