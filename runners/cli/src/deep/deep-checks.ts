// `pipeline doctor --deep`: carries out the stages with the role host-check of a pipeline that extends the named one
// (ADR 62), by the engine of any run. Each call repeats them, and nothing of them is an attempt or a score.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { outcomeCause, unreachable } from "@mlrb/core/ports/outcome";
import { heldWords } from "@mlrb/core/schedule/queued-for";
import { hostCheck } from "@mlrb/formats/judged/host-check";
import { mustFollow } from "@mlrb/formats/read-format";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import type { Result } from "@mlrb/local/run/result";
import { logPath } from "@mlrb/local/stage/log-path";
import { clearDeadWork } from "@mlrb/local/stage/work-folders";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { readRequest } from "../request/request.ts";
import { typedCommand } from "../request/typed-command.ts";
import { runGiven } from "../run/run-given.ts";
import { lastLines } from "../show/last-lines.ts";
import { readConsents } from "../sources/consents.ts";
import { checkObstacle } from "./check-obstacles.ts";
import type { DeepCheck } from "./deep-text.ts";
import { downloadsOf, knownOffline } from "./offline-files.ts";

/** The pipeline that declares the checks. */
export const deepPipeline = "deep-checks";
const deepRole = "host-check";

export type DeepOptions = {
  profile?: string;
  set: string[];
  executor?: string;
  root?: string;
  json: boolean;
  weakLimits: boolean;
};

type Ended = {
  results: (Result | undefined)[];
  durations: Map<number, number>;
  /** Ids of the stages that this call started: others have a log of an earlier call or none. */
  started: Set<string>;
  /** What a stage waited for last, by plan index. */
  waited: Map<number, string>;
  interrupts: number;
};

/** `pipeline`: the one whose work is checked. Undefined after printing why the request is invalid. */
export async function hostChecks(
  repository: string,
  { pipeline, limitMs, ...options }: DeepOptions & { pipeline: string; limitMs: number },
): Promise<{ checks: DeepCheck[]; interrupted: boolean } | undefined> {
  const consulted = new Consulted(repository);
  const request = await readRequest(repository, deepPipeline, { ...options, only: [] }, consulted);
  if (!request) return undefined;
  const plan = withoutReuse(request.plan, Date.now());
  const { root } = request;
  const workspace = openWorkspace({
    repository,
    root,
    pipeline: plan.pipeline,
    profile: plan.profile,
    consulted,
  });
  await clearDeadWork(workspace.state.work);
  const checks = distinct(plan.instances.filter(isCheck));
  const needed = new Map(checks.map((check) => [check, neededBy(check, plan)]));
  const downloads = checks.flatMap((check) => downloadsOf(check, plan.instances));
  const all = indicesOf([...[...needed.values()].flat(), ...downloads]);
  const { previews } = await previewPlan(plan, all, { workspace, stale: { kind: "leave" } });
  const host = {
    ...{ plan, previews, sources: sourceFiles(repository), consents: readConsents(workspace.state.state) },
    download: `${typedCommand("run", pipeline, options)} --only download`,
  };
  const decided = new Map<Instance, DeepCheck>(); // without starting them
  for (const check of checks) {
    const obstacle = await checkObstacle(needed.get(check)!, host);
    const found = knownOffline(check, { instances: plan.instances, previews, env: process.env });
    const known = { name: check.id, ms: null };
    if (obstacle) decided.set(check, { kind: "failed", ...known, ...obstacle });
    else if (found !== undefined) decided.set(check, { kind: "passed", ...known, found });
  }
  const started = checks.filter((check) => !decided.has(check));
  const selected = indicesOf(started.flatMap((check) => needed.get(check)!));
  const ended = await carriedOut(plan, selected, { workspace, options, limitMs });
  const found = checks.flatMap((check) => {
    const known = decided.get(check);
    return known ? [known] : checkOf(check, ended, { plan, workspace });
  });
  return { checks: found, interrupted: ended.interrupts > 0 };
}

/** A check of what the plan does not have, such as models of a task without any, is left out. */
function isCheck({ stage, inputs }: Instance): boolean {
  return stage.role === deepRole && (stage.needs.length === 0 || inputs.length > 0);
}

/** Each piece of work once: seeds and tasks share most of them. */
function distinct(checks: Instance[]): Instance[] {
  const byWork = Map.groupBy(checks, ({ stage, action, inputs, environment, execution }) =>
    JSON.stringify([stage.name, action, inputs, environment, execution]),
  );
  return [...byWork.values()].map(([first]) => first!);
}

/** The plan with a new key for each check: a host may have changed since the last success. */
function withoutReuse(plan: Plan, now: number): Plan {
  const instances = plan.instances.map((one) =>
    isCheck(one) ? { ...one, action: { ...one.action, params: { ...one.action.params, asked: now } } } : one,
  );
  return { ...plan, instances };
}

/** In plan order; the check is the last. What it collects is only read where it is known already. */
function neededBy(check: Instance, { instances }: Plan): Instance[] {
  const wanted = new Set<number>();
  const want = (index: number) => {
    if (wanted.has(index)) return;
    wanted.add(index);
    const { inputs, members, environment } = instances[index]!;
    for (const { from } of inputs) want(from);
    if (index !== check.index) for (const { from } of members) want(from);
    if (environment !== undefined) want(environment);
  };
  want(check.index);
  return indicesOf([...wanted].map((index) => instances[index]!)).map((index) => instances[index]!);
}

function indicesOf(instances: Instance[]): number[] {
  return [...new Set(instances.map(({ index }) => index))].sort((a, b) => a - b);
}

async function carriedOut(
  plan: Plan,
  selected: number[],
  at: { workspace: Workspace; options: Omit<DeepOptions, "profile" | "set">; limitMs: number },
): Promise<Ended> {
  const { workspace, options, limitMs } = at;
  const [durations, waited] = [new Map<number, number>(), new Map<number, string>()];
  const started = new Set<string>();
  const { results, interrupts } = await runGiven({
    ...{ repository: workspace.repository, workspace, plan, selected, jobs: undefined, json: options.json },
    given: new Map(),
    weakLimits: options.weakLimits || plan.weakLimits,
    limitMs,
    onEvent: (event) => {
      if (event.kind === "ended") durations.set(event.instance.index, event.durationMs);
      if (event.kind === "started") started.add(event.instance.id);
      if (event.kind === "waiting") waited.set(event.instance.index, heldWords(event));
    },
  });
  return { results, durations, started, waited, interrupts };
}

/** Empty where another check did the same work, and where there was nothing to check. */
function checkOf(
  check: Instance,
  { results, durations, started, waited, interrupts }: Ended,
  { plan, workspace }: { plan: Plan; workspace: Workspace },
): DeepCheck[] {
  const { id: name, index } = check;
  const { outcome, outputs } = results[index]!;
  const ms = durations.get(index) ?? null;
  const failure = (stage: string, cause: string) => failureOf(stage, cause, { started, workspace });
  switch (outcome.kind) {
    case "succeeded": {
      const text = workspace.store.textOf(outputs.check!.digest);
      const { found } = mustFollow(hostCheck, JSON.parse(text), name);
      return found === null ? [] : [{ kind: "passed", name, ms, found }];
    }
    case "reused":
      return [];
    case "failed":
      return [{ kind: "failed", name, ms, ...failure(name, outcomeCause(outcome)) }];
    case "skipped": {
      const before = plan.instances.find(({ id }) => id === outcome.because);
      const cause = before && results[before.index] ? outcomeCause(results[before.index]!.outcome) : "";
      return [{ kind: "failed", name, ms: null, ...failure(outcome.because, cause) }];
    }
    case "cancelled": {
      const wait = started.has(name) ? undefined : waited.get(index);
      const over = `it did not end within 15 minutes of all checks${wait === undefined ? "" : `: it waited, ${wait}`}`;
      const cause = interrupts > 0 ? "the checks were ended before it" : over;
      return [{ kind: "failed", name, ms, cause, help: typedCommand("log", name, {}) }];
    }
    default:
      return unreachable(outcome);
  }
}

/** The last line of the log often names the cause and the way out. */
function failureOf(
  stage: string,
  cause: string,
  { started, workspace }: { started: Set<string>; workspace: Workspace },
): { cause: string; help: string } {
  const [last] = started.has(stage) ? lastLines(logPath(workspace.state.logs, stage), 1) : [];
  return { cause: last === undefined ? cause : `${last} (${cause})`, help: typedCommand("log", stage, {}) };
}
