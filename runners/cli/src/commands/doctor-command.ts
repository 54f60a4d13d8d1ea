// `pipeline doctor`: what this machine has, and which profiles of a pipeline can run on it.
import type { Sources } from "@mlrb/core/spec/manifest";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { statePaths } from "@mlrb/local/store/state-folder";
import { inspectMachine, type Machine } from "../gates/inspect-machine.ts";
import { type Check, machineChecks, type ProfileCheck, profileCheck } from "../gates/machine-checks.ts";
import { modelChecks } from "../gates/model-checks.ts";
import { presetModels } from "../gates/preset-models.ts";
import { type ProfileNeeds, profileNeeds } from "../gates/profile-needs.ts";
import { sourceChecks } from "../gates/source-checks.ts";
import { pipelineFile, refuse } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { withScripted } from "../request/scripted-pipeline.ts";
import { executorNames } from "../run/executors.ts";
import { doctorText } from "../show/doctor-text.ts";
import { printJson } from "../show/print-json.ts";
import { readConsents } from "../sources/consents.ts";
import { declaredSources } from "../sources/declared-sources.ts";

export type DoctorOptions = { root?: string; models: boolean; json: boolean };

/** Returns 1 if the default profile cannot run here, or Node is not the project's. */
export async function doctorCommand(
  repository: string,
  pipeline: string,
  options: DoctorOptions,
): Promise<number> {
  const sources = sourceFiles(repository);
  const file = pipelineFile(repository, pipeline, sources);
  const scripted = typeof file === "string" ? await withScripted(repository, file, sources) : file;
  const needs = "code" in scripted ? [scripted] : profileNeeds(file as string, scripted, executorNames);
  const problems = needs.filter((one) => "code" in one);
  if (problems.length > 0) return refuse(problems, options.json);
  const machine = await inspectMachine({ repository, root: rootFolder(repository, options.root) });
  const checks = machineChecks(machine);
  const set = (name: string) => (process.env[name] ?? "") !== "";
  const profiles = (needs as ProfileNeeds[]).map((one) => profileCheck(one, machine, set));
  checkSources(needs as ProfileNeeds[], profiles, { sources, machine });
  if (options.models) await checkModels(needs as ProfileNeeds[], profiles, sources);
  const broken = profiles.some(({ isDefault, runs }) => isDefault && !runs) || nodeMissing(checks);
  if (options.json) {
    for (const check of checks) printJson({ event: "check", ...check });
    for (const profile of profiles) printJson({ event: "profile", pipeline, ...profile });
    printJson({ event: "summary", pipeline, runs: !broken });
  } else process.stdout.write(doctorText(pipeline, { checks, profiles }));
  return broken ? 1 : 0;
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

/** Calls each model once, which costs tokens: only with --models. */
async function checkModels(needs: ProfileNeeds[], profiles: ProfileCheck[], sources: Sources): Promise<void> {
  const { probeModel } = await import("@mlrb/agents/model/probe-model");
  const agentsOf = (one: ProfileNeeds) => ("agents" in one ? one.agents : []);
  const models = presetModels([...new Set(needs.flatMap(agentsOf))].sort(), sources);
  const found = await modelChecks(models, { probe: probeModel, keyOf: (name) => process.env[name] });
  for (const [place, one] of needs.entries()) {
    const own = agentsOf(one).flatMap((agent) => found.get(agent) ?? []);
    const profile = profiles[place]!;
    profile.checks.push(...own);
    profile.runs &&= own.every(({ answer }) => answer !== "missing");
  }
}

/** With another Node no profile can be relied on. */
function nodeMissing(checks: Check[]): boolean {
  return checks.some(({ name, answer }) => name === "node" && answer === "missing");
}
