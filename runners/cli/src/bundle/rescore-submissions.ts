// `report --from FILE --rescore N`: scores N published submissions of a verified bundle again, with this repository's
// scorers, and compares the scores. The seed of the choice is printed, so that others can repeat it; by default it is
// random, so that an author cannot know it in advance.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import type { Attempt, AttemptScore } from "@mlrb/formats/report/attempt";
import { type BundledPage, bundledPage } from "@mlrb/formats/report/evidence-bundle";
import { processName } from "@mlrb/kit/processes/process-name";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { beginWork, clearDeadWork, endWork } from "@mlrb/local/stage/work-folders";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { parseScore } from "@mlrb/report/read/parse-artifacts";
import type { ReportParams } from "@mlrb/report/read/report-params";
import { readRequest } from "../request/request.ts";
import { typedIn } from "../request/root-folder.ts";
import { scoredTarget, scoringOf, submitted } from "../request/scored-target.ts";
import type { SubmittedFolder } from "../request/submit-folder.ts";
import { printFailures } from "../run/print-failures.ts";
import { runGiven } from "../run/run-given.ts";
import { oneLine } from "../show/one-line.ts";
import { printJson } from "../show/print-json.ts";
import { measuredOf } from "../show/print-scores.ts";
import { nodeOf, reusedKeys, type TraceNode } from "../show/trace-nodes.ts";
import { HubTrouble } from "../sources/hub-client.ts";
import {
  chosenSubmissions,
  comparedAttempts,
  judgedScore,
  type PublishedSubmission,
} from "./chosen-submissions.ts";
import { differingParts, isSameRun } from "./differing-parts.ts";
import { hubRepository, hubSubmissions } from "./hub-submissions.ts";
import { folderSubmissions, type PublishedSubmissions } from "./published-folder.ts";
import { bundledPageFile } from "./rebuild-results.ts";
import { refused } from "./report-bundle.ts";
import {
  type RescoredScore,
  type RescoredSubmission,
  rescoreSums,
  submissionLines,
  sumsLine,
} from "./rescore-words.ts";

export type RescoreOptions = {
  root?: string;
  json: boolean;
  rescore: string;
  submissions?: string;
  sampleSeed?: string;
  tolerance: string;
};

type Bundle = { pipeline: string; profile: string; textOf: (path: string) => string };

type Rescoring = {
  repository: string;
  bundle: Bundle;
  page: BundledPage;
  published: PublishedSubmissions;
  tolerance: number;
  options: RescoreOptions;
};

/**
 * Returns 0 if every chosen submission was scored and no difference exceeds the tolerance, else 1; 2 for options or a
 * pipeline that cannot be used; 130 after an interrupt.
 */
export async function rescoreSubmissions(
  repository: string,
  bundle: Bundle,
  options: RescoreOptions,
): Promise<number> {
  const { json, submissions, sampleSeed: seed = randomBytes(4).toString("hex") } = options;
  const [count, tolerance] = [Number(options.rescore), Number(options.tolerance)];
  const problem = optionsProblem({ count, tolerance, submissions });
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    return 2;
  }
  const report: Report = mustFollow(
    reportFormat,
    JSON.parse(bundle.textOf("results/report.json")),
    "report.json",
  );
  const page = mustFollow(bundledPage, JSON.parse(bundle.textOf(bundledPageFile)), bundledPageFile);
  const { chosen, published } = chosenSubmissions(report, { count, seed });
  if (chosen.length === 0)
    return refused(
      "no-submissions: no attempt in the bundle has a scored submission",
      "rescore another bundle",
    );
  if (json) printJson({ event: "rescore", seed, tolerance, submissions: chosen.length, published });
  else
    process.stdout.write(
      `rescoring ${chosen.length} of ${counted(published, "submission")}, chosen by --sample-seed ${seed}; tolerance ${tolerance} of the value\n`,
    );
  const source = hubRepository(submissions!);
  const held = source
    ? await hubSubmissions(source, process.env)
    : folderSubmissions(resolve(typedIn(), submissions!), submissions!);
  if (held instanceof HubTrouble) return refused(`${held.code}: ${held.message}`, held.help);
  const at: Rescoring = { repository, bundle, page, published: held, tolerance, options };
  const done: RescoredSubmission[] = [];
  for (const one of chosen) {
    const found = await rescored(one, at);
    if (typeof found === "number") return found;
    done.push(...found);
    if (json) for (const each of found) printJson({ event: "rescored-submission", ...jsonOf(each) });
    else process.stdout.write(`${found.flatMap(submissionLines).map(oneLine).join("\n")}\n`);
  }
  const sums = rescoreSums(done);
  if (json) printJson({ event: "rescored", seed, ...sums });
  else process.stdout.write(`${sumsLine(sums, chosen.length)}\n`);
  return sums.beyond + sums.missing > 0 ? 1 : 0;
}

type Typed = { count: number; tolerance: number; submissions: string | undefined };

function optionsProblem({ count, tolerance, submissions }: Typed): string | undefined {
  if (!Number.isSafeInteger(count) || count < 1)
    return "bad-count: --rescore takes a whole number above 0\n  help: e.g. --rescore 3";
  if (!(tolerance >= 0 && tolerance < 1))
    return "bad-tolerance: --tolerance takes a share of the value from 0 to 1\n  help: e.g. --tolerance 0.01";
  if (submissions === undefined)
    return "no-folder: --rescore needs --submissions FOLDER\n  help: name the archive that `attempts export` wrote, or a folder with a folder DIGEST for each submission; hf://datasets/ORG/NAME names such a repository of a hub";
  if (submissions.startsWith("hf://"))
    return hubRepository(submissions)
      ? undefined
      : `bad-repository: ${submissions} names no repository of a hub\n  help: write hf://datasets/ORG/NAME for a dataset or hf://ORG/NAME for a model; @REVISION may follow`;
  const folder = resolve(typedIn(), submissions);
  return existsSync(folder)
    ? undefined
    : `no-folder: there is no folder ${folder}\n  help: name the folder of the published submissions with --submissions`;
}

function jsonOf({ attempt, ...found }: RescoredSubmission): object {
  return { ...found, agent: attempt.agent, seed: attempt.seed };
}

/** One for each attempt that handed the submission in. The exit code if the request cannot be used. */
async function rescored(one: PublishedSubmission, at: Rescoring): Promise<RescoredSubmission[] | number> {
  const { repository, bundle, options } = at;
  const { task, submission, attempts } = one;
  const lacks = (problem: string) => [{ task, submission, attempt: attempts[0]!, scores: [], problem }];
  const consulted = new Consulted(repository);
  const narrowed = { ...options, profile: bundle.profile, only: [], set: [`task=${task}`] };
  const request = await readRequest(repository, bundle.pipeline, narrowed, consulted);
  if (!request) return 2;
  const { plan, root } = request;
  const target = scoredTarget(plan, attempts[0]!);
  if ("code" in target) return lacks(target.message);
  const { attempt, params } = target;
  const slot = { pipeline: plan.pipeline, profile: plan.profile };
  const workspace = openWorkspace({ repository, root, ...slot, consulted });
  const copy = await copied(submission, attempt, { published: at.published, workspace });
  if (typeof copy === "string") return lacks(copy);
  if (copy.digest !== submission)
    return lacks(`what ${options.submissions} has under this digest has the digest ${copy.digest}`);
  const selected = scoringOf(plan, attempt.index, { references: false });
  const given = new Map([[attempt.index, copy.result]]);
  const run = { repository, workspace, plan, selected, given, jobs: undefined, json: options.json };
  const { results, interrupts } = await runGiven(run);
  if (!options.json) printFailures(plan, results, workspace.state.logs);
  if (interrupts > 0) return 130;
  const scoring = selected
    .map((index) => plan.instances[index]!)
    .filter(({ stage }) => stage.role === "score");
  const keys = reusedKeys(results.map((result, index) => ({ index, key: result?.key })));
  const again = new Map(
    scoring.map((instance) => {
      const metric = String(instance.axes.scorer);
      const measured = measuredOf(instance, results[instance.index], workspace.store);
      // a scorer that did not run has no key here, and one of an earlier run says nothing of this copy
      const node = keys.has(instance.index)
        ? nodeOf(instance, { plan, workspace, reused: keys })
        : "it was not scored";
      return [metric, { score: scoreOf(measured, params, metric), instance, node }];
    }),
  );
  return comparedAttempts(one, (metric, published, attempt) => {
    const measured = again.get(metric);
    if (!measured) return lacking(metric, "this repository has no such scorer for the task");
    return compared(attempt, { metric, published, at, ...measured });
  });
}

/** A text is why there is none. What was downloaded for the copy is removed. */
async function copied(
  submission: string,
  attempt: Instance,
  { published, workspace }: { published: PublishedSubmissions; workspace: Workspace },
): Promise<SubmittedFolder | string> {
  await clearDeadWork(workspace.state.work);
  const work = beginWork(workspace.state.work, `fetch-${Date.now()}-${processName}`);
  try {
    const place = await published.placeOf(submission, work.path);
    return typeof place === "string" ? place : await submitted(place, attempt, workspace);
  } finally {
    endWork(work);
  }
}

function lacking(metric: string, words: string): RescoredScore {
  return { metric, judged: { kind: "not-rescored", words }, host: false, differs: [] };
}

type Measured = ReturnType<typeof measuredOf>;

function scoreOf({ texts, cause }: Measured, params: ReportParams, metric: string): AttemptScore {
  if (texts.score === undefined) return { kind: "not-measured", cause: cause || "no score" };
  const reading = parseScore(texts.score, params.metric(metric));
  return reading.kind === "ok" ? reading.value : { kind: "not-measured", cause: reading.cause };
}

type Compared = {
  metric: string;
  published: AttemptScore;
  score: AttemptScore;
  instance: Instance;
  node: TraceNode | string;
  at: Rescoring;
};

function compared(attempt: Attempt, of: Compared): RescoredScore {
  const { metric, published, score, instance, node, at } = of;
  const made = at.page.instances.find(
    ({ role, axes }) =>
      role === "score" &&
      axes.task === attempt.task &&
      axes.agent === attempt.agent &&
      axes.seed === attempt.seed &&
      axes.scorer === metric,
  )?.made;
  if (made && typeof node !== "string" && isSameRun(made, node))
    return lacking(
      metric,
      "this state folder holds the bundle's own score, so it would prove nothing; name an empty folder with --root",
    );
  const differs = made && typeof node !== "string" ? differingParts(made, node) : [];
  const judged = judgedScore(published, score, at.tolerance);
  return { metric, judged, host: instance.action.hostSensitive, differs };
}
