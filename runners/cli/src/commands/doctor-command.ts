// `pipeline doctor`: what this machine has, and which profiles of a pipeline can run on it.
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import { manifestNames, readManifest, type Sources } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { didYouMeanIn } from "@mlrb/core/yaml/suggest";
import { processorClass } from "@mlrb/local/decide/host-facts";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { statePaths } from "@mlrb/local/store/state-folder";
import { clusterChecks } from "../cluster/cluster-checks.ts";
import { jobsAlike } from "../cluster/jobs-alike.ts";
import { type Check, note } from "../gates/check.ts";
import type { CostOptions } from "../gates/cost-gate.ts";
import { hostNow } from "../gates/gate.ts";
import { inspectMachine, type Machine } from "../gates/inspect-machine.ts";
import { machineChecks } from "../gates/machine-checks.ts";
import { modelChecks, presetModels } from "../gates/model-checks.ts";
import {
  canRun,
  type ProfileCheck,
  type ProfilePlan,
  profileCheck,
  profilePlans,
} from "../gates/profile-checks.ts";
import { remoteChecks } from "../remote/remote-checks.ts";
import { refuse } from "../request/refuse.ts";
import { pipelineFile, readWords } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { withScripted } from "../request/scripted-pipeline.ts";
import { executorNames } from "../run/executors.ts";
import { doctorText } from "../show/doctor-text.ts";
import { printJson } from "../show/print.ts";

export type DoctorOptions = {
  root?: string;
  profile?: string;
  set: string[];
  executor?: string;
  /** Whether models are asked: those of the shown profiles' agents, or of these agents. */
  models: boolean | string;
  json: boolean;
} & CostOptions;

/** Returns 1 if the chosen profile, or the default one, cannot run here, if a named model does not answer, or if Node is
 * not the project's. */
export async function doctorCommand(
  repository: string,
  named: string | undefined,
  typed: DoctorOptions,
): Promise<number> {
  const { pipeline, options } = withPipelineApart(repository, named, typed);
  const answers = await doctorAnswers(repository, pipeline, options);
  if (!answers) return 2;
  if ("problems" in answers) return refuse(answers.problems, options.json);
  const { checks, profiles, models } = answers;
  // with another Node no profile can be relied on
  const runs =
    profiles.every((one) => one.runs || !(one.isDefault || profiles.length === 1)) &&
    canRun([...models, ...checks.filter(({ name }) => name === "node")]);
  if (options.json) {
    for (const check of checks) printJson({ event: "check", ...check });
    for (const profile of profiles) printJson({ event: "profile", pipeline, ...profile });
    printJson({ event: "summary", pipeline, runs });
  } else process.stdout.write(doctorText(pipeline, { checks, profiles }));
  return runs ? 0 : 1;
}

/** In `doctor --models PIPELINE` the word after the option is the pipeline, unless an agent has this name. */
function withPipelineApart(
  repository: string,
  pipeline: string | undefined,
  options: DoctorOptions,
): { pipeline: string; options: DoctorOptions } {
  const { models } = options;
  if (pipeline === undefined && typeof models === "string") {
    const sources = sourceFiles(repository);
    const isAgent = readManifest("agent", models, sources) !== undefined;
    if (!isAgent && typeof pipelineFile(repository, models, sources) === "string")
      return { pipeline: models, options: { ...options, models: true } };
  }
  return { pipeline: pipeline ?? "full-benchmark", options };
}

/** `models`: the checks of the models that `--models` names, which are among `checks`. */
type DoctorAnswers = { checks: Check[]; profiles: ProfileCheck[]; models: Check[] };

/** Undefined after printing why models are not asked for tool calls. */
export async function doctorAnswers(
  repository: string,
  pipeline: string,
  options: DoctorOptions,
): Promise<DoctorAnswers | { problems: Diagnostic[] } | undefined> {
  const sources = sourceFiles(repository);
  const words = readWords(pipeline, { repository, sources, set: options.set });
  if ("problems" in words) return words;
  const named = namedAgents(options.models, sources);
  if ("code" in named) return { problems: [named] };
  const scripted = await withScripted(repository, words.file, sources);
  const asked = { ...words, profile: options.profile, executor: options.executor };
  const plans = "code" in scripted ? [scripted] : profilePlans(asked, scripted, executorNames);
  const problems = plans.filter((one) => "code" in one);
  if (problems.length > 0) return { problems };
  const profiles = plans as ProfilePlan[];
  const agents = options.models === true ? profiles.flatMap(agentsOf) : named.agents;
  const found = await modelsOf([...new Set(agents)].sort(), sources, options);
  if (!found) return undefined;
  const machine = await inspectMachine({ repository, root: rootFolder(repository, options.root) });
  const { state } = statePaths(machine.root.path);
  const host = { ...hostNow(), gpus: () => machine.gpus, freeBytes: machine.root.freeBytes };
  const inProfile = (name: string) => {
    const known = profiles.find(({ profile }) => profile === name);
    const other = known ?? loadPlan({ ...asked, profile: name }, scripted as Sources, executorNames);
    if (!("plan" in other)) return undefined;
    return { plan: other.plan, selected: other.plan.instances.map(({ index }) => index) };
  };
  const at = { inProfile, sources, state, purse: { prices: [] }, host };
  const checked: ProfileCheck[] = [];
  for (const one of profiles) {
    const profile = await profileCheck(one, machine, at);
    if ("plan" in one) {
      const isChosen = profiles.length === 1;
      profile.checks.push(...(await checkCluster(one.plan, profile, { repository, machine, isChosen })));
      if (options.models === true)
        profile.checks.push(...agentsOf(one).flatMap((agent) => found.get(agent) ?? []));
    }
    checked.push({ ...profile, runs: canRun(profile.checks) });
  }
  const models = named.agents.flatMap((agent) => found.get(agent) ?? [noModel(agent)]);
  const checks = [...machineChecks(machine), ...(await remoteChecks({ env: process.env, state })), ...models];
  return { checks, profiles: checked, models };
}

/** Small jobs are submitted only for a profile that `--profile` chooses, where Slurm takes jobs at all. */
async function checkCluster(
  plan: Plan,
  { checks }: ProfileCheck,
  { repository, machine, isChosen }: { repository: string; machine: Machine; isChosen: boolean },
): Promise<Check[]> {
  const jobs = jobsAlike(plan);
  if (jobs.length === 0 || checks.some(({ name, answer }) => name === "slurm" && answer === "missing"))
    return [];
  if (!isChosen) {
    const help = `doctor --profile ${plan.profile} asks it for small jobs`;
    return [note("slurm", "answers; no job was tried", help)];
  }
  const { python, root } = machine;
  return clusterChecks(jobs, { repository, root: root.path, here: { python, processor: processorClass() } });
}

/** The agents of `--models a,b`. */
function namedAgents(models: boolean | string, sources: Sources): { agents: string[] } | Diagnostic {
  if (typeof models === "boolean") return { agents: [] };
  const agents = models.split(",").map((name) => name.trim());
  const unknown = agents.find((name) => readManifest("agent", name, sources) === undefined);
  if (unknown === undefined) return { agents };
  const known = manifestNames("agent", sources);
  const help = didYouMeanIn(unknown, known, "pnpm pipeline list agents");
  return { code: "unknown-agent", message: `--models names no agent: "${unknown}"`, help };
}

/** Those of a profile's plan, sorted. */
function agentsOf(one: ProfilePlan): string[] {
  if ("problems" in one) return [];
  return [...new Set(one.plan.instances.flatMap(({ axes }) => axes.agent ?? []).map(String))].sort();
}

/** Calls each model once, which costs tokens: for a word, or for a tool call where the command line says what it may cost. */
async function modelsOf(
  agents: string[],
  sources: Sources,
  options: DoctorOptions,
): Promise<Map<string, Check[]> | undefined> {
  if (agents.length === 0) return new Map();
  const models = presetModels(agents, sources);
  const keyOf = (name: string) => process.env[name];
  if (options.maxCost !== undefined || options.yes) {
    const { toolCalls } = await import("../gates/tool-calls.ts");
    const calls = await toolCalls(models, options);
    return calls && modelChecks(models, { ...calls, keyOf });
  }
  const { probeModel } = await import("@mlrb/agents/model/probe-model");
  return modelChecks(models, { probe: ({ spec }, key) => probeModel(spec, key), keyOf });
}

function noModel(agent: string): Check {
  return note(`model of ${agent}`, "none that its preset names");
}
