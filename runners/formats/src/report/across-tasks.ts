// Normalised scores of the primary metrics over tasks, in report.json.
import { referenceKind } from "../judged/references.ts";
import * as t from "../schema.ts";

const leftOut = t.listOf(t.wholeObject({ task: t.anyText, why: t.anyText }));

const agentAcrossTasks = t.wholeObject({
  agent: t.anyText,
  meanRank: t.about(
    t.numberOrNull,
    "mean over `ranked` of its rank by mean, 1 for the best; null without such tasks",
  ),
  tasks: t.about(
    t.listOf(t.anyText),
    "the tasks behind its numbers; only agents with equal tasks can be compared",
  ),
  leftOut: t.about(leftOut, "tasks with a scale at which its values cannot be used, and why"),
  mean: t.about(t.numberOrNull, "unweighted mean over tasks of the mean over attempts; null without tasks"),
  leaveOneOut: t.about(
    t.listOf(t.wholeObject({ without: t.anyText, mean: t.number })),
    "the mean without each task in turn; empty for fewer than two tasks",
  ),
  interquartileMean: t.about(
    t.numberOrNull,
    "the mean of the middle half of all attempts, every task with the same weight",
  ),
});
export type AgentAcrossTasks = t.TypeOf<typeof agentAcrossTasks>;

export const acrossTasks = t.wholeObject({
  kind: t.about(
    t.nullable(referenceKind),
    "the kind of the reference models of `tasks`: the kind of most tasks; null without tasks",
  ),
  ranked: t.about(t.listOf(t.anyText), "tasks at which every agent has a usable mean, whatever their scale"),
  tasks: t.about(
    t.listOf(
      t.wholeObject({
        task: t.anyText,
        metric: t.anyText,
        baseline: t.number,
        reference: t.number,
        referenceName: t.anyText,
      }),
    ),
    "tasks with a usable scale of the primary metric, with trivial baseline (0) and reference model (1) of one kind",
  ),
  leftOut: t.about(leftOut, "the other tasks, and why"),
  agents: t.listOf(agentAcrossTasks),
});
export type AcrossTasks = t.TypeOf<typeof acrossTasks>;
