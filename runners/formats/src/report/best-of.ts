// The best of k in report.json: what is gained by trying k times, by a choice that never reads test scores.
import * as t from "../schema.ts";

const interval = t.nullable(t.pairOf(t.number));
const share = { ...t.numberOrNull, minimum: 0, maximum: 1 } as const;

const taskChoice = t.wholeObject({
  task: t.anyText,
  metric: t.about(t.anyText, "the primary one"),
  success: t.about(t.numberOrNull, "the score from which on an attempt succeeds; null: none is known"),
  beats: t.about(t.textOrNull, "the row that it beats by two standard errors; null: a score of task.yaml"),
  devScorer: t.about(t.textOrNull, "the scorer of public rows that chooses; null: choices are random"),
});
export type TaskChoice = t.TypeOf<typeof taskChoice>;

const group = t.wholeObject({
  seeds: t.listOf(t.seed),
  dev: t.about(t.listOf(t.numberOrNull), "of each: its score on public rows"),
  by: t.about(
    t.oneOf("dev", "random", "none", "missing"),
    "what chose; none: no attempt is valid; missing: one failed by the harness",
  ),
  chosen: t.nullable(t.seed),
  value: t.about(t.numberOrNull, "the test score of the chosen attempt, as it counts in means"),
  oracle: t.about(t.numberOrNull, "the group's best test score, an upper bound"),
});

const cellOfK = t.wholeObject({
  ...{ task: t.anyText, agent: t.anyText, k: t.positiveInteger },
  n: t.about(t.count, "attempts that are not missing"),
  successes: t.about({ type: ["integer", "null"], minimum: 0 }, "null where no success is known"),
  passAtK: t.about(share, "the unbiased estimate; null for k > n"),
  passInterval: t.about(interval, "at least 95 %; null for repeats, or if too many are missing"),
  groups: t.listOf(group),
  leftOut: t.about(t.count, "attempts that fill no group"),
  mean: t.about(t.numberOrNull, "over groups; a failed choice counts as the trivial baseline"),
  normalisedMean: t.numberOrNull,
  oracle: t.about(t.numberOrNull, "the mean of the groups' best test scores, never compared"),
  better: t.about(share, "P(the chosen attempt is better than one outside its group), ties half"),
  betterInterval: interval,
});
export type CellOfK = t.TypeOf<typeof cellOfK>;

const choiceTest = t.wholeObject({
  share: t.about(t.number, "P(a chosen attempt is better than another of its group), ties half"),
  groups: t.about(t.count, "in which a dev score chose"),
  p: t.about(t.number, "exact and two-sided, if each attempt of a group were as likely to be chosen"),
  pMin: t.number,
  pHolm: t.about(t.number, "corrected over agents and k"),
});

const agentOfK = t.wholeObject({
  ...{ agent: t.anyText, k: t.positiveInteger },
  ...{ passAtK: t.about(share, "mean over `passTasks` tasks"), passTasks: t.count },
  normalisedMean: t.about(t.numberOrNull, "over the tasks with a common scale"),
  ...{ better: t.about(share, "mean over `tasks` tasks"), betterInterval: interval, tasks: t.count },
  choice: t.about(t.nullable(choiceTest), "null without a group to test"),
});
export type AgentOfK = t.TypeOf<typeof agentOfK>;

const profile = t.wholeObject({
  ...{ agent: t.anyText, k: t.positiveInteger, tasks: t.listOf(t.anyText) },
  steps: t.about(
    t.listOf(t.wholeObject({ above: t.number, share: t.number })),
    "the share of attempts, or of chosen ones, with a normalised score over each value; tasks have equal weight",
  ),
});

const lists = { tasks: t.listOf(taskChoice), cells: t.listOf(cellOfK), agents: t.listOf(agentOfK) };
export const bestOf = t.wholeObject({ ...lists, profiles: t.listOf(profile) });
export type BestOf = t.TypeOf<typeof bestOf>;
