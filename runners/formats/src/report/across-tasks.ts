// Normalised scores of the primary metrics over tasks, in report.json.
import { anchorKind } from "../judged/anchors.ts";
import { anyText, listOf, nullable, number, numberOrNull, type TypeOf, wholeObject } from "../schema.ts";

const leftOut = listOf(wholeObject({ task: anyText, why: anyText }));

const agentAcrossTasks = wholeObject({
  agent: anyText,
  meanRank: {
    ...numberOrNull,
    description: "mean over `ranked` of its rank by mean, 1 for the best; null without such tasks",
  },
  tasks: {
    ...listOf(anyText),
    description: "the tasks behind its numbers; only agents with equal tasks can be compared",
  },
  leftOut: {
    ...leftOut,
    description: "tasks with a scale at which its values cannot be used, and why",
  },
  mean: {
    ...numberOrNull,
    description: "unweighted mean over tasks of the mean over attempts; null without tasks",
  },
  leaveOneOut: {
    ...listOf(wholeObject({ without: anyText, mean: number })),
    description: "the mean without each task in turn; empty for fewer than two tasks",
  },
  interquartileMean: {
    ...numberOrNull,
    description: "the mean of the middle half of all attempts, every task with the same weight",
  },
});
export type AgentAcrossTasks = TypeOf<typeof agentAcrossTasks>;

export const acrossTasks = wholeObject({
  kind: {
    ...nullable(anchorKind),
    description: "the kind of the reference models of `tasks`: the kind of most tasks; null without tasks",
  },
  ranked: {
    ...listOf(anyText),
    description: "tasks at which every agent has a usable mean, whatever their scale",
  },
  tasks: {
    ...listOf(
      wholeObject({ task: anyText, metric: anyText, floor: number, anchor: number, anchorName: anyText }),
    ),
    description:
      "tasks with a usable scale of the primary metric, with trivial baseline (0) and reference model (1) of one kind",
  },
  leftOut: { ...leftOut, description: "the other tasks, and why" },
  agents: listOf(agentAcrossTasks),
});
export type AcrossTasks = TypeOf<typeof acrossTasks>;
