// Two agents' submissions on the same items, in report.json: one for each task, metric and pair of agents.
import {
  anyText,
  count,
  kindsWith,
  listOf,
  nullable,
  number,
  numberOrNull,
  pairOf,
  seed,
  type TypeOf,
  textOrNull,
  wholeObject,
} from "../schema.ts";

export const comparison = kindsWith(
  { task: anyText, metric: anyText, agents: pairOf(anyText) },
  wholeObject({
    kind: { const: "compared" },
    difference: {
      ...number,
      description: "the first agent's score minus the second's, averaged over `seeds`",
    },
    standardError: {
      ...numberOrNull,
      description: "over items of these submissions, not over attempts; null for a single item",
    },
    clusteredStandardError: {
      ...numberOrNull,
      description: "the same with the items' groups as clusters; null without groups",
    },
    clusters: nullable(count),
    items: count,
    seeds: listOf(seed),
    leftOut: listOf(wholeObject({ seed, why: anyText })),
    better: { ...textOrNull, description: "the better agent; null for equal scores" },
    clear: {
      type: ["boolean", "null"],
      description: "whether the difference exceeds two of the larger standard error; null without one",
    },
  }),
  wholeObject({ kind: { const: "not-compared" }, why: anyText }),
);
export type Comparison = TypeOf<typeof comparison>;
