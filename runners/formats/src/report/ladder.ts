// The ladder of difficulty in report.json: how scores depend on what a level changes of a task.
import * as t from "../schema.ts";

export const taskLevel = t.wholeObject({
  task: t.about(t.anyText, "the task that it changes; the level's own attempts are at TASK@NAME"),
  name: t.anyText,
  of: t.about(t.anyText, "what it changes: time, memory, data, model or help"),
  dose: t.about(t.number, "how much of it there is, in `unit`; less is harder"),
  unit: t.anyText,
  whole: t.about(t.number, "the dose of the task itself"),
  says: t.about(t.anyText, "what agents read of it"),
  share: t.about(t.numberOrNull, "of the data that is left; null: all"),
  help: t.about(t.textOrNull, "the folder that agents find as help/"),
});
export type TaskLevel = t.TypeOf<typeof taskLevel>;

const doseMean = t.wholeExcept(["baseline"], {
  level: t.about(t.anyText, "whole: the task itself"),
  dose: t.number,
  n: t.about(t.count, "attempts that are not missing"),
  mean: t.about(
    t.numberOrNull,
    "over these attempts; failed ones count as the trivial baseline. On the scale of the level's own baseline (0) and reference (1), with `scaled`, else in the metric's unit",
  ),
  interval: t.about(
    t.nullable(t.pairOf(t.number)),
    "Student-t, 95 %, of a mean in which attempts worse than the trivial baseline count with their score; null for fewer than two attempts or equal ones",
  ),
  baseline: t.about(t.numberOrNull, "the level's trivial baseline in that unit; null: it has none"),
});
export type DoseMean = t.TypeOf<typeof doseMean>;

const doseCurve = t.wholeObject({
  task: t.anyText,
  of: t.anyText,
  unit: t.anyText,
  agent: t.anyText,
  metric: t.anyText,
  scaled: t.about(t.flag, "whether every level has a trivial baseline and a reference"),
  points: t.about(t.listOf(doseMean), "one for each level, the whole task first"),
  checkpoints: t.about(
    t.listOf(t.wholeObject({ share: t.number, n: t.count, mean: t.number })),
    "of attempts at the whole task, as they stood at a share of their time: they did not know of a shorter one. On the same scale",
  ),
  beats: t.about(
    t.listOf(t.anyText),
    "levels, from the whole task to harder ones, at which and at all before it the agent is shown to beat the trivial baseline",
  ),
  equal: t.about(
    t.listOf(t.anyText),
    "levels of the others at which it is shown to be equal to the baseline within the margin",
  ),
});
export type DoseCurve = t.TypeOf<typeof doseCurve>;

const doseTrend = t.wholeObject({
  agent: t.anyText,
  curves: t.about(t.count, "tasks and kinds of change that the test is over"),
  p: t.about(t.numberOrNull, "two-sided; null where labels cannot be exchanged"),
  pHolm: t.about(t.numberOrNull, "corrected over agents"),
  rises: t.about(t.nullable(t.flag), "whether scores rise with the dose; null: neither"),
});

export const ladder = t.wholeObject({
  levels: t.listOf(taskLevel),
  margin: t.about(
    t.number,
    "within which a normalised mean counts as equal to the baseline; declared before",
  ),
  curves: t.listOf(doseCurve),
  trends: t.about(t.listOf(doseTrend), "one test for each agent"),
});
export type Ladder = t.TypeOf<typeof ladder>;
