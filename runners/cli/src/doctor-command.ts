// `pipeline doctor`: what this machine has, and which profiles of a pipeline can run on it.
import { sourceFiles } from "@mlrb/local/source-files";
import { type Check, machineChecks, profileCheck } from "./checkup.ts";
import { doctorText } from "./doctor-text.ts";
import { executorNames } from "./executors.ts";
import { lookAtMachine } from "./look-at-machine.ts";
import { type ProfileNeeds, profileNeeds } from "./profile-needs.ts";
import { pipelineFile, printProblems } from "./request.ts";
import { rootOf } from "./root-of.ts";
import { withScripted } from "./scripted-pipeline.ts";

export type DoctorOptions = { root?: string; json: boolean };

/** 1 where the default profile cannot run here, or the program itself lacks something. */
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
  if (problems.length > 0) {
    printProblems(problems, options.json);
    return 2;
  }
  const machine = await lookAtMachine({ repository, root: rootOf(repository, options.root) });
  const checks = machineChecks(machine);
  const set = (name: string) => (process.env[name] ?? "") !== "";
  const profiles = (needs as ProfileNeeds[]).map((one) => profileCheck(one, machine, set));
  const broken = profiles.some(({ isDefault, runs }) => isDefault && !runs) || nodeMissing(checks);
  if (options.json) {
    for (const check of checks) process.stdout.write(`${JSON.stringify({ event: "check", ...check })}\n`);
    for (const profile of profiles)
      process.stdout.write(`${JSON.stringify({ event: "profile", pipeline, ...profile })}\n`);
    process.stdout.write(`${JSON.stringify({ event: "summary", pipeline, runs: !broken })}\n`);
  } else process.stdout.write(doctorText(pipeline, { checks, profiles }));
  return broken ? 1 : 0;
}

/** Another Node is no profile's matter: nothing can be relied on then. */
function nodeMissing(checks: Check[]): boolean {
  return checks.some(({ name, answer }) => name === "node" && answer === "missing");
}
