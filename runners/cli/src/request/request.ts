// Turns the typed arguments into a plan, or into all their problems.
import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Selection } from "@mlrb/core/plan/resolve-axes";
import { selectInstances } from "@mlrb/core/plan/select-instances";
import { liveToolsName } from "@mlrb/core/spec/agent-model";
import type { Sources } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { ifReadable } from "@mlrb/local/store/if-readable";
import { executorNames } from "../run/executors.ts";
import { refuse } from "./refuse.ts";
import { rootFolder, typedIn } from "./root-folder.ts";
import { withScripted } from "./scripted-pipeline.ts";

export type CommonOptions = {
  profile?: string;
  only: string[];
  set: string[];
  executor?: string;
  skipReferenceModels?: boolean;
  liveTools?: boolean;
  root?: string;
  json: boolean;
};

/** A request as it was typed. */
export type Typed = { repository: string; pipeline: string; options: CommonOptions };

type Planned = { plan: Plan; selected: number[] };

export type Request = Planned & {
  root: string;
  /** The same request in another profile; undefined if it is not valid there. */
  inProfile: (profile: string) => Planned | undefined;
};

/** The requested plan; undefined after printing the problems. */
export async function readRequest(
  repository: string,
  pipeline: string,
  options: CommonOptions,
  consulted?: Consulted,
): Promise<Request | undefined> {
  const sources = sourceFiles(repository, consulted);
  const words = readWords(pipeline, { repository, sources, set: setOf(options) });
  if ("problems" in words) {
    refuse(words.problems, options.json);
    return undefined;
  }
  const scripted = await withScripted(repository, words.file, sources, consulted);
  if ("code" in scripted) {
    refuse([scripted], options.json);
    return undefined;
  }
  const result = planIn({ ...words, sources: scripted, profile: options.profile }, options);
  if ("problems" in result) {
    refuse(result.problems, options.json);
    return undefined;
  }
  return {
    ...result,
    root: rootFolder(repository, options.root),
    inProfile: (profile) => planInProfile({ repository, pipeline, options }, profile, scripted),
  };
}

/** The request in another profile; undefined if it is not valid there. In `sources` a scripted pipeline reads as YAML. */
export function planInProfile(
  { repository, pipeline, options }: Typed,
  profile: string,
  sources: Sources,
): Planned | undefined {
  const words = readWords(pipeline, { repository, sources, set: setOf(options) });
  const other = "problems" in words ? words : planIn({ ...words, sources, profile }, options);
  return "problems" in other ? undefined : other;
}

type WantedPlan = { file: string; set: Selection; profile: string | undefined; sources: Sources };

function planIn(
  { file, set, profile, sources }: WantedPlan,
  { only, executor, skipReferenceModels: skipChecks }: CommonOptions,
): Planned | { problems: Diagnostic[] } {
  const result = loadPlan({ file, profile, set, executor, skipChecks }, sources, executorNames);
  if ("problems" in result) return result;
  const selection = selectInstances(result.plan, only);
  return "problems" in selection ? selection : { ...result, ...selection };
}

/** `--live-tools` chooses for replays what `--set model=` chooses for models. */
function setOf({ set, liveTools }: CommonOptions): string[] {
  return liveTools ? [...set, `model=${liveToolsName}`] : set;
}

/** The parsed arguments, or their problems that do not depend on any file. */
export function readWords(
  pipeline: string,
  at: { repository: string; sources: Sources; set: string[] },
): { file: string; set: Selection } | { problems: Diagnostic[] } {
  const file = pipelineFile(at.repository, pipeline, at.sources);
  const set = parseSet(at.set);
  if (typeof file === "string" && !("code" in set)) return { file, set: set as Selection };
  return { problems: [file, set].filter((one) => typeof one === "object" && "code" in one) as Diagnostic[] };
}

export function isPipelinePath(pipeline: string): boolean {
  return /[/\\]|\.(ya?ml|ts)$/.test(pipeline);
}

/** `NAME` or a path, as a path from the repository's root. */
export function pipelineFile(repository: string, pipeline: string, sources: Sources): string | Diagnostic {
  if (!isPipelinePath(pipeline)) {
    for (const file of [`pipelines/${pipeline}.yaml`, `pipelines/${pipeline}.ts`]) {
      if (sources.read(file) !== undefined) return file;
    }
    const names = pipelineNames(sources);
    const help = `${didYouMean(pipeline, names)} \`pnpm pipeline list pipelines\` shows all ${names.length}`;
    return { code: "unknown-pipeline", message: `no pipeline named "${pipeline}"`, help };
  }
  for (const from of [typedIn(), repository]) {
    const path = relative(repository, resolve(from, pipeline));
    if (isInside(repository, path) && sources.read(path) !== undefined) return path;
  }
  return {
    code: "unknown-file",
    message: `there is no file ${pipeline} in the repository`,
    help: "give a pipeline's name, or a path",
  };
}

/** Whether the path leads to a place in the repository, also through links: what a pipeline names is run. */
function isInside(repository: string, path: string): boolean {
  const real = ifReadable(() => relative(realpathSync(repository), realpathSync(join(repository, path))));
  return real !== undefined && !isAbsolute(real) && !/^\.\.(\/|$)/.test(real);
}

export function pipelineNames(sources: Sources): string[] {
  const files = sources
    .list("pipelines")
    .filter((file) => /\.(yaml|ts)$/.test(file) && !/\.test\.ts$/.test(file));
  return [...new Set(files.map((file) => file.replace(/\.(yaml|ts)$/, "")))];
}

/** Accepts `--set task=a,b --set seed=1` and `--set task=a,seed=1`. */
export function parseSet(flags: string[]): Selection | Diagnostic {
  const set = new Map<string, string[]>();
  for (const flag of flags) {
    let axis: string | undefined;
    for (const part of flag.split(",")) {
      const at = part.indexOf("=");
      if (at > 0) axis = part.slice(0, at).trim();
      const value = part.slice(at + 1).trim();
      if (axis === undefined || value === "") {
        return {
          code: "bad-set",
          message: `--set ${flag} is not axis=value`,
          help: "e.g. --set task=baby-lm or --set seed=1,2",
        };
      }
      set.set(axis, [...(set.get(axis) ?? []), value]);
    }
  }
  return Object.fromEntries(set);
}
