// `pipeline task check NAME`: measures the rules of a task. The scripted baselines and a corpus of honest models,
// near-misses and cheats go through the stages that judge submissions (ADR 49).
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { type CorpusMember, corpus as corpusFormat } from "@mlrb/formats/judged/corpus";
import { noLookAhead } from "@mlrb/formats/judged/verdict";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { ruleParams } from "@mlrb/kit/rules/rule-params";
import { rulesOn } from "@mlrb/kit/rules/rules-on";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import type { Result } from "@mlrb/local/run/result";
import { startRun } from "@mlrb/local/run/run-plan";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { parseVerdict } from "@mlrb/report/read/parse-artifacts";
import { parseJobs } from "../request/parse-jobs.ts";
import { type Request, readRequest, refuse } from "../request/request.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { submitFolder } from "../request/submit-folder.ts";
import { executorsOf } from "../run/executors.ts";
import { forecast } from "../run/forecast.ts";
import { printFailures } from "../run/print-failures.ts";
import { Progress } from "../run/progress.ts";
import { untilFinished } from "../run/until-finished.ts";
import { printTaskCheck } from "./print-task-check.ts";
import { type CheckedRule, type Judged, ruleRates, thinEvidence, unmetExpectations } from "./rule-rates.ts";

const pipeline = "task-check";
type TaskCheckOptions = PlaceOptions & { jobs?: string };
type Asked = { repository: string; json: boolean; jobs: number | undefined };

export async function taskCheck(
  repository: string,
  task: string,
  options: TaskCheckOptions,
): Promise<number> {
  const { json } = options;
  const jobs = parseJobs(options.jobs);
  if (typeof jobs === "object") return refuse([jobs], json);
  const asked = { repository, json, jobs };
  const consulted = new Consulted(repository);
  const request = (only: string[], ...set: string[]) =>
    readRequest(repository, pipeline, { ...options, only, set: [`task=${task}`, ...set] }, consulted);
  const first = await request(["corpus", "verdict"]);
  if (!first) return 2;
  const { plan, root } = first;
  const workspace = openWorkspace({ repository, root, pipeline, profile: plan.profile, consulted });
  const made = await carriedOut(first, new Map(), workspace, asked);
  if (typeof made === "number") return made;
  const work = mkdtempSync(join(workspace.state.work, "task-check-"));
  try {
    const folder = join(work, "corpus");
    const corpus = plan.instances.find(({ stage }) => stage.name === "corpus")!;
    workspace.store.restore(made[corpus.index]!.outputs.corpus!, folder);
    const path = join(folder, "members.json");
    const rules = checkedRules(plan);
    const members = mustFollow(corpusFormat, readJson(path), path).members.filter((one) =>
      rules.some(({ method }) => one.rules.includes(method)),
    );
    // each member takes the place of one attempt: the agent decides nothing, and the seed is the member's number
    const { agent } = instanceOf(plan, ({ stage }) => stage.durable).axes;
    const seeds = members.map((_, at) => at + 1);
    const second = await request(["verdict"], `agent=${agent}`, `seed=${seeds.join(",")}`);
    if (!second) return 2;
    const given = await submitted(second.plan, { folder, members, work, workspace });
    const judged = await carriedOut(second, given, workspace, asked);
    if (typeof judged === "number") return judged;
    const models = [
      ...baselineModels(plan, made, rules, workspace),
      ...members.map((one, at) => ({
        ...one,
        verdict: verdictOf(second.plan, { agent: agent!, seed: at + 1 }, judged, workspace),
      })),
    ];
    const rates = ruleRates(rules, models);
    const unmet = [...emptyAdmitted(plan, made, workspace), ...unmetExpectations(rules, models)];
    printTaskCheck({ task, models: models.length, rates, unmet, thin: thinEvidence(rates), json });
    return unmet.length > 0 ? 1 : 0;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The results by plan index, or an exit status. Attempts that are given are not run. */
async function carriedOut(
  { plan, selected: all }: Request,
  given: ReadonlyMap<number, Result>,
  workspace: Workspace,
  { repository, json, jobs }: Asked,
): Promise<(Result | undefined)[] | number> {
  const selected = all.filter((index) => !given.has(index));
  const progress = new Progress({
    total: selected.length,
    quiet: json,
    stream: process.stderr,
    forecast: forecast({ plan, selected, jobs, workspace }),
  });
  const run = startRun({
    plan,
    selected,
    workspace,
    given,
    executors: executorsOf(repository),
    jobs,
    failFast: false,
    stale: { kind: "rerun" },
    onEvent: (event) => progress.show(event),
  });
  const interrupts = await untilFinished(run, progress);
  const results = await run.finished;
  if (interrupts > 0) return 130;
  if (selected.every((index) => ["succeeded", "reused"].includes(results[index]!.outcome.kind)))
    return results;
  printFailures(plan, results, workspace.state.logs);
  return 1;
}

/** One attempt for each member, with its folder as the submission. */
async function submitted(
  plan: Plan,
  from: { folder: string; members: CorpusMember[]; work: string; workspace: Workspace },
): Promise<Map<number, Result>> {
  const { folder, members, work, workspace } = from;
  const given = new Map<number, Result>();
  for (const [at, { name }] of members.entries()) {
    const attempt = instanceOf(plan, ({ stage, axes }) => stage.durable && axes.seed === at + 1);
    const submission = await submitFolder(join(folder, name), attempt, { workspace, work });
    if (typeof submission === "string") throw new Error(submission);
    given.set(attempt.index, submission.result);
  }
  return given;
}

/** The rules that decide by one submission. */
function checkedRules(plan: Plan): CheckedRule[] {
  const { action } = instanceOf(plan, isVerdict);
  const { rules, data } = ruleParams(action.params);
  const own = rulesOn(rules, data).filter(({ method }) => method !== "unlike-attempts");
  const lookAhead: CheckedRule = { name: noLookAhead, method: noLookAhead, severity: "strike" };
  return [lookAhead, ...own.map(({ name, method, severity }) => ({ name, method, severity }))];
}

/** The submissions of the scripted baselines, equal ones once. Their notes may be deserved, so only strikes count. */
function baselineModels(
  plan: Plan,
  results: (Result | undefined)[],
  rules: CheckedRule[],
  workspace: Workspace,
): Judged[] {
  const strikes = rules.filter(({ severity }) => severity === "strike").map(({ method }) => method);
  const seen = new Set<string>();
  return attemptsOf(plan, results, workspace).flatMap(({ axes, digest, isEmpty }): Judged[] => {
    if (isEmpty || seen.has(digest)) return [];
    seen.add(digest);
    const verdict = verdictOf(plan, axes, results, workspace);
    return [{ name: `${axes.agent} ${axes.seed}`, kind: "honest", rules: strikes, heldOut: false, verdict }];
  });
}

/** Attempts that submitted nothing and are not rejected, in words. */
function emptyAdmitted(plan: Plan, results: (Result | undefined)[], workspace: Workspace): string[] {
  return attemptsOf(plan, results, workspace).flatMap(({ axes, isEmpty }) => {
    const { kind } = verdictOf(plan, axes, results, workspace);
    if (!isEmpty || kind === "rejected") return [];
    return [`${axes.agent} ${axes.seed} submits nothing, and its verdict is ${kind}`];
  });
}

function attemptsOf({ instances }: Plan, results: (Result | undefined)[], { store }: Workspace) {
  return instances
    .filter(({ stage }) => stage.durable)
    .map(({ axes, index }) => {
      const { digest } = results[index]!.outputs.submission!;
      return { axes, digest, isEmpty: store.filesOf(digest).length === 0 };
    });
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
