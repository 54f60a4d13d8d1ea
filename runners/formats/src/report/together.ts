// Teams in report.json: under each arm, which holds one thing equal, a team, one agent alone, and the best of k.
import * as t from "../schema.ts";
import { keyParts } from "../stage/action.ts";
import { agentComparison } from "./agent-comparison.ts";

const side = t.wholeObject({
  task: t.anyText,
  side: t.oneOf("team", "best-of-k", "solo"),
  agent: t.anyText,
  k: t.about(t.positiveInteger, "attempts of each value: k of best-of-k, else 1"),
  metric: t.about(t.anyText, "the one that decides the task"),
  n: t.about(t.count, "values that are not missing"),
  planned: t.count,
  mean: t.about(t.numberOrNull, "intention to treat, in the metric's unit"),
  interval: t.about(
    t.nullable(t.pairOf(t.number)),
    "Student-t, 95 %; null where an attempt failed or is missing, attempts are repeats, or values are equal",
  ),
  budget: t.about(t.nullable(keyParts.properties.budget), "of each attempt; null: not known"),
  limits: t.about(
    t.tableOf(t.count),
    "attempts by the limit of the budget that ended them; none: ended by itself",
  ),
});
export type TogetherSide = t.TypeOf<typeof side>;

const arm = t.wholeObject({
  name: t.anyText,
  primary: t.about(t.flag, "whether `overBestOf` is the primary contrast of the report"),
  ...{ team: t.anyText, solo: t.anyText, bestOf: t.anyText, k: t.positiveInteger },
  without: t.about(t.listOf(t.anyText), "why a side has no values"),
  sides: t.listOf(side),
  overBestOf: t.about(t.nullable(agentComparison), "the team against the best of k; null without both"),
  overSolo: t.about(t.nullable(agentComparison), "the team against one agent; exploratory"),
});
export type TogetherArm = t.TypeOf<typeof arm>;

export const together = t.wholeObject({
  dollarsPerMachineHour: t.about(t.numberOrNull, "the stated price; null: none"),
  arms: t.listOf(arm),
});
export type Together = t.TypeOf<typeof together>;
