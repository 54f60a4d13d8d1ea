// Finds the stages that validate and score a folder as a submission to a task.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { processName } from "@mlrb/kit/processes/process-name";
import { beginWork, clearDeadWork, endWork } from "@mlrb/local/stage/work-folders";
import type { Workspace } from "@mlrb/local/store/workspace";
import { type ReportParams, reportParams } from "@mlrb/report/read/report-params";
import { type SubmittedFolder, submitFolder } from "./submit-folder.ts";

/** `inside`: see submitFolder. */
export type ScoredPlace = { path: string; inside?: string | undefined };

/** Where a submission comes from. */
export type ScoredOrigin = { task: string; agent?: unknown; seed?: unknown };

/**
 * The attempt whose submission the folder replaces, and the report's parameters, which name metrics and baselines.
 * It is the one of the same agent and seed if the plan has it, since progress and failures name it; else any of
 * the task.
 */
export function scoredTarget(
  { pipeline, instances }: Plan,
  { task, agent, seed }: ScoredOrigin,
): { attempt: Instance; params: ReportParams } | Diagnostic {
  const help = "name a pipeline with --pipeline";
  const ofTask = instances.filter(({ stage, axes }) => stage.durable && axes.task === task);
  const attempt = ofTask.find(({ axes }) => axes.agent === agent && axes.seed === seed) ?? ofTask[0];
  if (!attempt?.stage.gives.some(({ name, kind }) => name === "submission" && kind === "dir")) {
    const message = `${pipeline} has no stage that produces a submission for ${task}`;
    return { code: "no-attempt", message, help };
  }
  const report = instances.find(({ stage }) => stage.publishes);
  if (!report)
    return { code: "no-report", message: `${pipeline} has no report stage, which names its metrics`, help };
  return { attempt, params: reportParams(report.action.params) };
}

export async function submitted(
  { path, inside }: ScoredPlace,
  attempt: Instance,
  workspace: Workspace,
): Promise<SubmittedFolder | string> {
  await clearDeadWork(workspace.state.work);
  const work = beginWork(workspace.state.work, `score-${Date.now()}-${processName}`);
  try {
    return await submitFolder(path, attempt, { workspace, work: work.path, inside });
  } finally {
    endWork(work);
  }
}

/**
 * The instances that validate and score the attempt, the reference models of its task, and what these need, in
 * plan order. Left out: the attempt, collecting stages, and stages that read other folders of an attempt such as
 * snapshots; a submitted folder has none, and an empty one would pass for an agent's. Without `references`, only
 * scores with what these need.
 */
export function scoringOf(
  { instances }: Plan,
  attempt: number,
  { references }: { references: boolean },
): number[] {
  const { axes } = instances[attempt]!;
  const follows = new Set([attempt]);
  const wanted = new Set<number>();
  const want = (index: number) => {
    if (index === attempt || wanted.has(index)) return;
    wanted.add(index);
    const { inputs, environment } = instances[index]!;
    for (const { from } of inputs) want(from);
    if (environment !== undefined) want(environment);
  };
  const folders = instances[attempt]!.stage.gives.filter(
    ({ name, kind }) => kind === "dir" && name !== "submission",
  );
  const lacking = new Set<number>();
  for (const { index, inputs, stage, axes: own } of instances) {
    if (stage.durable || stage.collect.length > 0) continue;
    const lacks = inputs.some(
      ({ from, output }) =>
        lacking.has(from) || (from === attempt && folders.some(({ name }) => name === output)),
    );
    if (lacks) {
      lacking.add(index);
      continue;
    }
    if (inputs.some(({ from }) => follows.has(from))) follows.add(index);
    // of the same task and no other axis of an attempt: its reference models
    const shared = Object.keys(axes).filter((axis) => Object.hasOwn(own, axis));
    const ofSameTask = shared.length === 1 && shared[0] === "task" && own.task === axes.task;
    if (references ? follows.has(index) || ofSameTask : follows.has(index) && stage.role === "score")
      want(index);
  }
  return [...wanted].sort((a, b) => a - b);
}
