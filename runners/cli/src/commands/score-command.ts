// `pipeline score PATH --task T`: validates and scores any folder with the stages that do so for an attempt's
// submission. Equal submissions share their scores with attempts.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { processName } from "@mlrb/kit/processes/process-name";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { beginWork, clearDeadWork, endWork } from "@mlrb/local/stage/work-folders";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { type ReportParams, reportParams } from "@mlrb/report/read/report-params";
import { parseJobs } from "../request/parse-jobs.ts";
import { readRequest, refuse } from "../request/request.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { type SubmittedFolder, submitFolder } from "../request/submit-folder.ts";
import { printFailures } from "../run/print-failures.ts";
import { runGiven } from "../run/run-given.ts";
import { measuredOf, printScores } from "../show/print-scores.ts";

export type ScoreOptions = PlaceOptions & {
  task: string;
  pipeline: string;
  profile?: string;
  jobs?: string;
};

export function scoreCommand(repository: string, path: string, options: ScoreOptions): Promise<number> {
  return scoreFolder(repository, { path }, options);
}

/** `inside`: see submitFolder. */
export type ScoredPlace = { path: string; inside?: string | undefined };

export async function scoreFolder(
  repository: string,
  { path, inside }: ScoredPlace,
  options: ScoreOptions,
): Promise<number> {
  const { json, task } = options;
  const jobs = parseJobs(options.jobs);
  if (typeof jobs === "object") return refuse([jobs], json);
  const consulted = new Consulted(repository);
  const narrowed = { ...options, only: [], set: [`task=${task}`] };
  const request = await readRequest(repository, options.pipeline, narrowed, consulted);
  if (!request) return 2;
  const { plan, root } = request;
  const target = targetOf(plan, task);
  if ("code" in target) return refuse([target], json);
  const { attempt, params } = target;
  const at = { repository, root, pipeline: plan.pipeline, profile: plan.profile, consulted };
  const workspace = openWorkspace(at);
  const submission = await submitted({ path, inside }, attempt, workspace);
  if (typeof submission === "string") {
    const help = "give the folder of a submission";
    return refuse([{ code: "bad-submission", message: submission, help }], json);
  }

  if (submission.torn.length > 0)
    process.stderr.write(
      `warning: ${submission.torn.length} files changed while they were copied, so the copy may mix old and new: ${submission.torn.slice(0, 3).join(", ")}\n`,
    );

  const selected = scoringOf(plan, attempt.index);
  const given = new Map([[attempt.index, submission.result]]);
  const run = { repository, workspace, plan, selected, given, jobs, json };
  const { results, interrupts } = await runGiven(run);
  if (!json) printFailures(plan, results, workspace.state.logs);
  const measured = selected.map((index) =>
    measuredOf(plan.instances[index]!, results[index], workspace.store),
  );
  await printScores({ path, task, profile: plan.profile, params, submission, measured, json });
  if (interrupts > 0) return 130;
  return selected.every((index) => ["succeeded", "reused"].includes(results[index]!.outcome.kind)) ? 0 : 1;
}

/** The attempt whose submission the folder replaces, and the report's parameters, which name metrics and floors. */
function targetOf(
  { pipeline, instances }: Plan,
  task: string,
): { attempt: Instance; params: ReportParams } | Diagnostic {
  const help = "name a pipeline with --pipeline";
  const attempt = instances.find(({ stage, axes }) => stage.durable && axes.task === task);
  if (!attempt?.stage.gives.some(({ name, kind }) => name === "submission" && kind === "dir")) {
    const message = `${pipeline} has no stage that produces a submission for ${task}`;
    return { code: "no-attempt", message, help };
  }
  const report = instances.find(({ stage }) => stage.publishes);
  if (!report)
    return { code: "no-report", message: `${pipeline} has no report stage, which names its metrics`, help };
  return { attempt, params: reportParams(report.action.params) };
}

async function submitted(
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
 * The instances that validate and score the attempt, the reference models of its task, and what these need, in plan
 * order. Left out: the attempt, collecting stages, and stages that read other folders of an attempt such as snapshots;
 * a submitted folder has none, and an empty one would pass for an agent's.
 */
function scoringOf({ instances }: Plan, attempt: number): number[] {
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
    if (follows.has(index) || ofSameTask) want(index);
  }
  return [...wanted].sort((a, b) => a - b);
}
