// `pipeline list`: the pipelines, tasks, scorers and agents that there are.

import { type ManifestKind, manifestNames, readManifest, type Sources } from "@mlrb/core/manifest";
import { didYouMean } from "@mlrb/core/suggest";
import { parseYaml } from "@mlrb/core/yaml-source";
import { sourceFiles } from "@mlrb/local/source-files";
import { pipelineNames } from "./request.ts";

const kinds: Record<string, ManifestKind | "pipeline"> = {
  pipelines: "pipeline",
  tasks: "task",
  scorers: "scorer",
  agents: "agent",
};

export function listCommand(
  repository: string,
  what: string | undefined,
  options: { json: boolean },
): number {
  if (what !== undefined && !Object.hasOwn(kinds, what)) {
    process.stderr.write(
      `unknown-list: there is no list of "${what}"\n  help: ${didYouMean(what, Object.keys(kinds))}\n`,
    );
    return 2;
  }
  const sources = sourceFiles(repository);
  for (const [plural, kind] of Object.entries(kinds)) {
    if (what !== undefined && what !== plural) continue;
    const items = itemsOf(kind, sources);
    if (options.json) {
      for (const item of items) process.stdout.write(`${JSON.stringify({ event: "item", kind, ...item })}\n`);
      continue;
    }
    const width = Math.max(0, ...items.map(({ name }) => name.length));
    if (what === undefined) process.stdout.write(`${plural}\n`);
    for (const { name, title } of items) process.stdout.write(`  ${name.padEnd(width)}  ${title}\n`);
    if (what === undefined) process.stdout.write("\n");
  }
  return 0;
}

function itemsOf(kind: ManifestKind | "pipeline", sources: Sources): { name: string; title: string }[] {
  const names = kind === "pipeline" ? pipelineNames(sources) : manifestNames(kind, sources);
  return names.map((name) => {
    const text = kind === "pipeline" ? sources.read(`pipelines/${name}.yaml`) : undefined;
    if (kind === "pipeline" && text === undefined) return { name, title: "(a script)" };
    const source =
      kind === "pipeline" ? parseYaml(`pipelines/${name}.yaml`, text!) : readManifest(kind, name, sources);
    if (source === undefined || Array.isArray(source))
      return { name, title: "(has problems: pnpm pipeline check)" };
    return { name, title: String((source.value as { title?: string } | null)?.title ?? "") };
  });
}
