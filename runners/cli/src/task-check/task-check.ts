// `pipeline task check NAME`: measures the rules of a task. The scripted baselines and a corpus of honest models,
// near-misses and cheats go through the stages that judge submissions (ADR 49).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { corpus as corpusFormat } from "@mlrb/formats/judged/corpus";
import { noLookAhead } from "@mlrb/formats/judged/verdict";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import { ruleParams } from "@mlrb/kit/rules/rule-params";
import { rulesOn } from "@mlrb/kit/rules/rules-on";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Result } from "@mlrb/local/run/result";
import { beginWork, clearDeadWork, endWork } from "@mlrb/local/stage/work-folders";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { parseVerdict } from "@mlrb/report/read/parse-artifacts";
import { parseJobs } from "../request/parse-jobs.ts";
import { refuse } from "../request/refuse.ts";
import { type Request, readRequest } from "../request/request.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { submitFolder } from "../request/submit-folder.ts";
import { printFailures } from "../run/print-failures.ts";
import { runGiven } from "../run/run-given.ts";
import { printTaskCheck } from "./print-task-check.ts";
import { type CheckedRule, type Judged, ruleRates, thinEvidence, unmetExpectations } from "./rule-rates.ts";

const pipeline = "task-check";
type TaskCheckOptions = PlaceOptions & { jobs?: string };
type Checked = {
  rules: CheckedRule[];
  /** Of the pipeline's agents, one whose attempts the folders of the corpus replace. */
  agent: string;
  request(only: string[], ...set: string[]): Promise<Request | undefined>;
  /** A folder of this process. */
  work: string;
  workspace: Workspace;
  asked: { repository: string; json: boolean; jobs: number | undefined };
};

export async function taskCheck(
  repository: string,
  task: string,
  options: TaskCheckOptions,
): Promise<number> {
  const { json } = options;
  const jobs = parseJobs(options.jobs);
  if (typeof jobs === "object") return refuse([jobs], json);
  if (task.includes(",")) return refuse([oneTask], json);
  const consulted = new Consulted(repository);
  const request = (only: string[], ...set: string[]) =>
    readRequest(repository, pipeline, { ...options, only, set: [`task=${task}`, ...set] }, consulted);
  const first = await request(["corpus"]);
  if (!first) return 2;
  const { plan, root } = first;
  const workspace = openWorkspace({ repository, root, pipeline, profile: plan.profile, consulted });
  await clearDeadWork(workspace.state.work);
  const folder = beginWork(workspace.state.work, `task-check-${Date.now()}-${processName}`);
  const checked: Checked = {
    rules: checkedRules(plan),
    agent: String(instanceOf(plan, ({ stage }) => stage.durable).axes.agent),
    request,
    work: folder.path,
    workspace,
    asked: { repository, json, jobs },
  };
  try {
    const made = await carriedOut(plan, first.selected, new Map(), checked);
    if (typeof made === "number") return made;
    const corpus = plan.instances.find(({ stage }) => stage.name === "corpus")!;
    workspace.store.restore(made[corpus.index]!.outputs.corpus!, join(folder.path, "corpus"));
    const members = await judgedMembers(checked);
    if (typeof members === "number") return members;
    const baselines = await judgedBaselines(checked);
    if (typeof baselines === "number") return baselines;
    const models = [...members.models, ...baselines];
    const rates = ruleRates(checked.rules, models);
    const unmet = [...members.unmet, ...unmetExpectations(checked.rules, models)];
    const thin = [...thinEvidence(rates), ...(baselines.length === 0 ? [noBaselines(task)] : [])];
    printTaskCheck({ task, models: models.length, rates, unmet, thin, json });
    return unmet.length > 0 ? 1 : 0;
  } finally {
    endWork(folder);
  }
}

/** The members of the corpus that some rule is about; and an empty folder, which must be rejected. Or an exit status. */
async function judgedMembers(checked: Checked): Promise<{ models: Judged[]; unmet: string[] } | number> {
  const { rules, agent, request, work, workspace } = checked;
  const path = join(work, "corpus/members.json");
  const members = mustFollow(corpusFormat, readJson(path), path).members.filter((one) =>
    rules.some(({ method }) => one.rules.includes(method)),
  );
  const folders = [...members.map(({ name }) => join(work, "corpus", name)), join(work, "empty")];
  mkdirSync(folders.at(-1)!);
  // each folder takes the place of one attempt: the agent decides nothing, and the seed is the folder's number
  const seeds = folders.map((_, at) => at + 1);
  const asked = await request(["verdict"], `agent=${agent}`, `seed=${seeds.join(",")}`);
  if (!asked) return 2;
  const { plan } = asked;
  const given = new Map<number, Result>();
  for (const [at, folder] of folders.entries()) {
    const attempt = instanceOf(plan, ({ stage, axes }) => stage.durable && axes.seed === at + 1);
    const submission = await submitFolder(folder, attempt, { workspace, work });
    if (typeof submission === "string") throw new Error(submission);
    given.set(attempt.index, submission.result);
  }
  const results = await carriedOut(plan, judging(plan, given), given, checked);
  if (typeof results === "number") return results;
  const verdicts = [...given.keys()].map((attempt) =>
    verdictOf(plan, plan.instances[attempt]!.axes, results, workspace),
  );
  const { kind } = verdicts.at(-1)!;
  return {
    models: members.map((one, at) => ({ ...one, verdict: verdicts[at]! })),
    unmet: kind === "rejected" ? [] : [`an empty folder is not rejected: its verdict is ${kind}`],
  };
}

/**
 * The submissions of the scripted baselines, equal ones once; only those whose attempts are recorded here, since a check
 * starts no attempt. Their notes may be deserved, so only strikes count.
 */
async function judgedBaselines(checked: Checked): Promise<Judged[] | number> {
  const { rules, request, workspace } = checked;
  const asked = await request(["verdict"]);
  if (!asked) return 2;
  const { plan, selected } = asked;
  const { results: known } = await previewPlan(plan, selected, { workspace, stale: { kind: "leave" } });
  const given = new Map<number, Result>();
  for (const { stage, index } of plan.instances) {
    const result = known[index];
    if (stage.durable && result?.outcome.kind === "reused") given.set(index, result);
  }
  const results = await carriedOut(plan, judging(plan, given), given, checked);
  if (typeof results === "number") return results;
  const strikes = rules.filter(({ severity }) => severity === "strike").map(({ method }) => method);
  const digests = new Set<string>();
  return [...given].flatMap(([index, { outputs }]): Judged[] => {
    const { axes } = plan.instances[index]!;
    const { digest } = outputs.submission!;
    if (digests.has(digest)) return [];
    digests.add(digest);
    const verdict = verdictOf(plan, axes, results, workspace);
    return [{ name: `${axes.agent} ${axes.seed}`, kind: "honest", rules: strikes, heldOut: false, verdict }];
  });
}

const oneTask: Diagnostic = {
  code: "several-tasks",
  message: "a check is of one task, since each has its own rules",
  help: "repeat the command for each task",
};

function noBaselines(task: string): string {
  return `no attempt of a scripted baseline is recorded here, so none is counted; \`pipeline run full-benchmark --set task=${task}\` makes them`;
}

/** The verdicts on the given attempts, and what these need beside the attempts, in plan order. */
function judging({ instances }: Plan, given: ReadonlyMap<number, Result>): number[] {
  const wanted = new Set<number>();
  const want = (index: number) => {
    if (given.has(index) || wanted.has(index)) return;
    wanted.add(index);
    const { inputs, environment } = instances[index]!;
    for (const { from } of inputs) want(from);
    if (environment !== undefined) want(environment);
  };
  for (const one of instances)
    if (isVerdict(one) && one.inputs.some(({ from }) => given.has(from))) want(one.index);
  return [...wanted].sort((a, b) => a - b);
}

/** The results by plan index, or an exit status. Attempts are given, and never run. */
async function carriedOut(
  plan: Plan,
  selected: number[],
  given: ReadonlyMap<number, Result>,
  { workspace, asked: { repository, json, jobs } }: Checked,
): Promise<(Result | undefined)[] | number> {
  const attempt = selected.find((index) => plan.instances[index]!.stage.durable);
  if (attempt !== undefined) throw new Error(`bug: ${plan.instances[attempt]!.id} would run`);
  const run = { repository, workspace, plan, selected, given, jobs, json };
  const { results, interrupts } = await runGiven(run);
  if (interrupts > 0) return 130;
  if (selected.every((index) => ["succeeded", "reused"].includes(results[index]!.outcome.kind)))
    return results;
  printFailures(plan, results, workspace.state.logs);
  return 1;
}

/** The rules that decide by one submission. */
function checkedRules(plan: Plan): CheckedRule[] {
  const { action } = instanceOf(plan, isVerdict);
  const { rules, data } = ruleParams(action.params);
  const own = rulesOn(rules, data).filter(({ method }) => method !== "unlike-attempts");
  const lookAhead: CheckedRule = { name: noLookAhead, method: noLookAhead, severity: "strike" };
  return [lookAhead, ...own.map(({ name, method, severity }) => ({ name, method, severity }))];
}

function verdictOf(
  plan: Plan,
  { agent, seed }: Instance["axes"],
  results: (Result | undefined)[],
  { store }: Workspace,
): Judged["verdict"] {
  const of = instanceOf(plan, (one) => isVerdict(one) && one.axes.agent === agent && one.axes.seed === seed);
  const reading = parseVerdict(store.textOf(results[of.index]!.outputs.verdict!.digest));
  if (reading.kind === "ok") return reading.value;
  throw new Error(`bug: ${of.id}: ${reading.cause}`);
}

const isVerdict = ({ stage }: Instance) => stage.role === "verdict";

function instanceOf({ instances }: Plan, fits: (one: Instance) => boolean): Instance {
  const found = instances.find(fits);
  if (!found) throw new Error(`pipelines/${pipeline}.yaml lacks a stage that \`task check\` needs`);
  return found;
}
