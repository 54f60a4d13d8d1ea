// The items of `pipeline list`: every pipeline and manifest with its title, or a note that it has problems.
import { type ManifestKind, manifestNames, readManifest, type Sources } from "@mlrb/core/spec/manifest";
import { parseYaml } from "@mlrb/core/yaml/yaml-source";
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { pipelineNames } from "../request/request.ts";
import { typedProgram } from "../request/typed-program.ts";

export type Item = { kind: ManifestKind | "pipeline"; name: string; title: string };

export function listItems(repository: string, consulted: Consulted): Item[] {
  const sources = sourceFiles(repository, consulted);
  return (["pipeline", "task", "scorer", "agent", "judge", "rubric", "source"] as const).flatMap((kind) =>
    itemsOf(kind, sources),
  );
}

function itemsOf(kind: Item["kind"], sources: Sources): Item[] {
  const names = kind === "pipeline" ? pipelineNames(sources) : manifestNames(kind, sources);
  return names.map((name) => ({ kind, name, title: titleOf(kind, name, sources) }));
}

function titleOf(kind: Item["kind"], name: string, sources: Sources): string {
  const text = kind === "pipeline" ? sources.read(`pipelines/${name}.yaml`) : undefined;
  if (kind === "pipeline" && text === undefined) return "(a script)";
  const source =
    kind === "pipeline" ? parseYaml(`pipelines/${name}.yaml`, text!) : readManifest(kind, name, sources);
  if (source === undefined || Array.isArray(source)) return `(has problems: ${typedProgram()} check)`;
  return String((source.value as { title?: string } | null)?.title ?? "");
}
