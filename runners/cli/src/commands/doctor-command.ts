// `pipeline doctor`: what this machine has, and which profiles of a pipeline can run on it.
import { manifestNames, readManifest, type Sources } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { didYouMeanIn } from "@mlrb/core/yaml/suggest";
import { processorClass } from "@mlrb/local/decide/host-facts";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { statePaths } from "@mlrb/local/store/state-folder";
import { clusterChecks, slurmMissing } from "../cluster/cluster-checks.ts";
import type { CostOptions } from "../gates/cost-gate.ts";
import { inspectMachine, type Machine } from "../gates/inspect-machine.ts";
import { type Check, machineChecks, type ProfileCheck, profileCheck } from "../gates/machine-checks.ts";
import { modelChecks } from "../gates/model-checks.ts";
import { presetModels } from "../gates/preset-models.ts";
import { type ProfileNeeds, profileNeeds } from "../gates/profile-needs.ts";
import { sourceChecks } from "../gates/source-checks.ts";
import { remoteChecks } from "../remote/remote-checks.ts";
import { refuse } from "../request/refuse.ts";
import { pipelineFile, readWords } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { withScripted } from "../request/scripted-pipeline.ts";
import { executorNames } from "../run/executors.ts";
import { doctorText } from "../show/doctor-text.ts";
import { printJson } from "../show/print-json.ts";
import { readConsents } from "../sources/consents.ts";
import { declaredSources } from "../sources/declared-sources.ts";

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
  const isChosen = (one: ProfileCheck) => one.isDefault || profiles.length === 1;
  const broken =
    profiles.some((one) => isChosen(one) && !one.runs) ||
    models.some(({ answer }) => answer === "missing") ||
    nodeMissing(checks);
  if (options.json) {
    for (const check of checks) printJson({ event: "check", ...check });
    for (const profile of profiles) printJson({ event: "profile", pipeline, ...profile });
  } else process.stdout.write(doctorText(pipeline, { checks, profiles }));
  if (options.json) printJson({ event: "summary", pipeline, runs: !broken });
  return broken ? 1 : 0;
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
  const { profile, executor } = options;
  const needs =
    "code" in scripted ? [scripted] : profileNeeds({ ...words, profile, executor }, scripted, executorNames);
  const problems = needs.filter((one) => "code" in one);
  if (problems.length > 0) return { problems };
  const agents = options.models === true ? (needs as ProfileNeeds[]).flatMap(agentsOf) : named.agents;
  const found = await modelsOf([...new Set(agents)].sort(), sources, options);
  if (!found) return undefined;
  const machine = await inspectMachine({ repository, root: rootFolder(repository, options.root) });
  const { state } = statePaths(machine.root.path);
  const checks = [...machineChecks(machine), ...(await remoteChecks({ env: process.env, state }))];
  const set = (name: string) => (process.env[name] ?? "") !== "";
  const profiles = (needs as ProfileNeeds[]).map((one) => profileCheck(one, machine, set));
  checkSources(needs as ProfileNeeds[], profiles, { sources, machine });
  await checkCluster(needs as ProfileNeeds[], profiles, { repository, machine });
  if (options.models === true)
    for (const [place, one] of (needs as ProfileNeeds[]).entries()) {
      const own = agentsOf(one).flatMap((agent) => found.get(agent) ?? []);
      const profile = profiles[place]!;
      profile.checks.push(...own);
      profile.runs &&= own.every(({ answer }) => answer !== "missing");
    }
  const models = named.agents.flatMap((agent) => found.get(agent) ?? [noModel(agent)]);
  checks.push(...models);
  return { checks, profiles, models };
}

function checkSources(
  needs: ProfileNeeds[],
  profiles: ProfileCheck[],
  { sources, machine }: { sources: Sources; machine: Machine },
): void {
  const { path, freeBytes } = machine.root;
  for (const [place, one] of needs.entries()) {
    if (!("sources" in one) || one.sources.length === 0) continue;
    const declared = declaredSources(one.sources, sources);
    if ("problems" in declared) continue; // the plan reports them
    const consents = readConsents(statePaths(path).state);
    const own = sourceChecks(declared.sources, { consents, freeBytes });
    const profile = profiles[place]!;
    profile.checks.push(...own);
    profile.runs &&= own.every(({ answer }) => answer !== "missing");
  }
}

/** Small jobs are submitted only for a profile that `--profile` chooses; of the others, whether Slurm is here. */
async function checkCluster(
  needs: ProfileNeeds[],
  profiles: ProfileCheck[],
  { repository, machine }: { repository: string; machine: Machine },
): Promise<void> {
  const { python, root } = machine;
  const here = { python, processor: processorClass() };
  for (const [place, one] of needs.entries()) {
    if (!("jobs" in one) || one.jobs.length === 0) continue;
    const own =
      profiles.length === 1
        ? await clusterChecks(one.jobs, { repository, root: root.path, here })
        : [(await slurmMissing()) ?? untried(one.profile)];
    const profile = profiles[place]!;
    profile.checks.push(...own);
    profile.runs &&= own.every(({ answer }) => answer !== "missing");
  }
}

function untried(profile: string): Check {
  const help = `doctor --profile ${profile} asks it for small jobs`;
  return { name: "slurm", answer: "note", found: "answers; no job was tried", help };
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

const agentsOf = (one: ProfileNeeds) => ("agents" in one ? one.agents : []);

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
  return { name: `model of ${agent}`, answer: "note", found: "none that its preset names" };
}

/** With another Node no profile can be relied on. */
function nodeMissing(checks: Check[]): boolean {
  return checks.some(({ name, answer }) => name === "node" && answer === "missing");
}
