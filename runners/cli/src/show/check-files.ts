// Finds every problem of the named YAML files, or of all YAML files, for `pipeline check`.
import { relative } from "node:path";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Selection } from "@mlrb/core/plan/resolve-axes";
import { exampleModel } from "@mlrb/core/spec/agent-model";
import { extendPipeline } from "@mlrb/core/spec/extend-pipeline";
import { manifestFile, manifestNames, readManifest, type Sources } from "@mlrb/core/spec/manifest";
import { type Diagnostic, sortDiagnostics } from "@mlrb/core/yaml/diagnostic";
import { parseYaml } from "@mlrb/core/yaml/yaml-source";
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { pipelineFile, pipelineNames } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { withScripted } from "../request/scripted-pipeline.ts";
import { executorNames } from "../run/executors.ts";
import { addRuns, cannotStart, type Runs } from "./check-runs.ts";

const kinds = ["task", "scorer", "agent", "judge", "rubric", "source"] as const;

/** Sorted problems, each once. Without `files`, of all files. */
export async function filesChecked(
  repository: string,
  files: string[],
  consulted: Consulted,
): Promise<{ problems: Diagnostic[]; checked: number }> {
  const sources = sourceFiles(repository, consulted);
  const named = kinds.flatMap((kind) => manifestNames(kind, sources).map((name) => [kind, name] as const));
  const manifests = new Map(named.map(([kind, name]) => [manifestFile(kind, name), { kind, name }]));
  const wanted = files.length > 0 ? files : [...pipelineNames(sources), ...manifests.keys()];
  const problems: Diagnostic[] = [];
  const runs: Runs = { scripts: new Set(), handedOver: new Set() };
  for (const file of wanted)
    problems.push(...(await checkFile(repository, file, { sources, manifests, runs, consulted })));
  problems.push(...(await cannotStart(repository, runs, consulted)));
  const distinct = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return { problems: sortDiagnostics([...distinct.values()]), checked: wanted.length };
}

type Checking = {
  sources: Sources;
  /** By their files. */
  manifests: ReadonlyMap<string, { kind: (typeof kinds)[number]; name: string }>;
  runs: Runs;
  consulted: Consulted;
};

/** Adds the scripts and folders of its stages to `runs`. */
async function checkFile(
  repository: string,
  file: string,
  { sources, manifests, runs, consulted }: Checking,
): Promise<Diagnostic[]> {
  const path = relative(repository, rootFolder(repository, file));
  const declared = manifests.get(path);
  if (declared) {
    const manifest = readManifest(declared.kind, declared.name, sources);
    return Array.isArray(manifest) ? manifest : [];
  }
  const pipeline = pipelineFile(repository, file, sources);
  if (typeof pipeline !== "string") return [pipeline];
  const scripted = await withScripted(repository, pipeline, sources, consulted);
  if ("code" in scripted) return [scripted];
  const problems: Diagnostic[] = [];
  for (const profile of profilesOf(pipeline, scripted)) {
    const planned = (set: Selection) => loadPlan({ file: pipeline, profile, set }, scripted, executorNames);
    const plain = planned({});
    // a profile may leave the model to whoever runs it
    const lacksModel = "problems" in plain && plain.problems.every(({ code }) => code === "no-model");
    const result = lacksModel ? planned({ model: [exampleModel] }) : plain;
    if ("problems" in result) problems.push(...result.problems);
    else for (const instance of result.plan.instances) addRuns(instance, runs);
  }
  return problems;
}

/** All profiles, inherited ones too; one undefined if there is none or the file is too broken. */
function profilesOf(file: string, sources: Sources): (string | undefined)[] {
  const written = parseYaml(file, sources.read(file)!);
  const source = Array.isArray(written) ? written : extendPipeline(written, sources);
  const { profiles } = Object(Array.isArray(source) ? {} : source.value) as { profiles?: unknown };
  const names = Object.keys(Object(profiles));
  return names.length > 0 ? names : [undefined];
}
