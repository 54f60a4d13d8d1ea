// `pipeline score PATH --task T`: validates and scores any folder with the stages that do so for an attempt's
// submission. Equal submissions share their scores with attempts.

import { Consulted } from "@mlrb/local/decide/consulted-files";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { attemptsWith, expectedAttempts, printExpected } from "../against/expected-scores.ts";
import { parseJobs } from "../request/parse-jobs.ts";
import { refuse } from "../request/refuse.ts";
import { readRequest } from "../request/request.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { type ScoredPlace, scoredTarget, scoringOf, submitted } from "../request/scored-target.ts";
import { printFailures } from "../run/print-failures.ts";
import { runGiven } from "../run/run-given.ts";
import { measuredOf, printScores } from "../show/print-scores.ts";

export type ScoreOptions = PlaceOptions & {
  task: string;
  pipeline: string;
  profile?: string;
  jobs?: string;
  /** A report.json with scores of the same files. */
  expect?: string;
};

export function scoreCommand(repository: string, path: string, options: ScoreOptions): Promise<number> {
  return scoreFolder(repository, { path }, options);
}

/** `of`: the attempt whose submission the folder is; without it the folder comes from a person. */
export async function scoreFolder(
  repository: string,
  { path, inside }: ScoredPlace,
  options: ScoreOptions & { of?: { stage: string; agent: unknown; seed: unknown } },
): Promise<number> {
  const { json, task, of } = options;
  const jobs = parseJobs(options.jobs);
  if (typeof jobs === "object") return refuse([jobs], json);
  const reported = options.expect === undefined ? undefined : expectedAttempts(options.expect);
  if (reported && "code" in reported) return refuse([reported], json);
  const consulted = new Consulted(repository);
  const narrowed = { ...options, only: [], set: [`task=${task}`] };
  const request = await readRequest(repository, options.pipeline, narrowed, consulted);
  if (!request) return 2;
  const { plan, root } = request;
  const target = scoredTarget(plan, { task, ...of });
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

  const expected = reported && attemptsWith(reported, { task, digest: submission.digest });
  if (expected && "code" in expected) return refuse([expected], json);
  const selected = scoringOf(plan, attempt.index, { references: true });
  const given = new Map([[attempt.index, submission.result]]);
  const run = { repository, workspace, plan, selected, given, jobs, json };
  const { results, interrupts } = await runGiven(run);
  if (!json) printFailures(plan, results, workspace.state.logs);
  const measured = selected.map((index) =>
    measuredOf(plan.instances[index]!, results[index], workspace.store),
  );
  const scored = { path, task, profile: plan.profile, params, submission, measured, json };
  await printScores({ ...scored, ...(of && { attempt: of.stage }) });
  if (interrupts > 0) return 130;
  if (expected && printExpected(expected, { params, measured, json }) > 0) return 1;
  return selected.every((index) => ["succeeded", "reused"].includes(results[index]!.outcome.kind)) ? 0 : 1;
}
