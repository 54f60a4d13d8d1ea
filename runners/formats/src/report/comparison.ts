// Two agents' submissions on the same items, in report.json: one for each task, metric and pair of agents.
import * as t from "../schema.ts";

export const comparison = t.kindsWith(
  { task: t.anyText, metric: t.anyText, agents: t.pairOf(t.anyText) },
  t.variant("compared", {
    difference: t.about(t.number, "the first agent's score minus the second's, averaged over `seeds`"),
    standardError: t.about(
      t.numberOrNull,
      "over items of these submissions, not over attempts; null for a single item",
    ),
    clusteredStandardError: t.about(
      t.numberOrNull,
      "the same with the items' groups as clusters; null without groups",
    ),
    clusters: t.nullable(t.count),
    items: t.count,
    seeds: t.listOf(t.seed),
    leftOut: t.listOf(t.wholeObject({ seed: t.seed, why: t.anyText })),
    better: t.about(t.textOrNull, "the better agent; null for equal scores"),
    clear: t.about(
      { type: ["boolean", "null"] },
      "whether the difference exceeds two of the larger standard error; null without one",
    ),
  }),
  t.variant("not-compared", { why: t.anyText }),
);
export type Comparison = t.TypeOf<typeof comparison>;
