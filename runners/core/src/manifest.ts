// Where the folders that people add live, and how one is read. The three kinds are named here and
// nowhere else; no task, scorer or agent is.

import { agentPreset } from "@mlrb/formats/agent-preset";
import { checkScorer } from "./check-scorer.ts";
import { checkShape } from "./check-shape.ts";
import { checkTask } from "./check-task.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { scorerSchema, taskSchema } from "./manifest-schema.ts";
import { parseYaml, type YamlSource } from "./yaml-source.ts";

/** How core reads: paths are relative to the repository's root, with forward slashes. */
export type Sources = {
  read(path: string): string | undefined;
  /** Names in a folder, sorted by code unit; empty when there is none. */
  list(folder: string): string[];
  /** What is at a path; undefined where nothing is. */
  kind(path: string): "file" | "dir" | undefined;
};

export type ManifestKind = "task" | "scorer" | "agent";

const places: Record<ManifestKind, { folder: string; file: (name: string) => string; schema: object }> = {
  task: { folder: "tasks", file: (name) => `tasks/${name}/task.yaml`, schema: taskSchema },
  scorer: { folder: "scorers", file: (name) => `scorers/${name}/scorer.yaml`, schema: scorerSchema },
  agent: {
    folder: "runners/agents/presets",
    file: (name) => `runners/agents/presets/${name}.yaml`,
    schema: agentPreset,
  },
};

export function isManifestKind(axis: string): axis is ManifestKind {
  return Object.hasOwn(places, axis);
}

/** The text that shows a pipeline uses the folder of an axis value, e.g. `tasks/{task}/`. */
export function folderPattern(kind: ManifestKind): string {
  return `${places[kind].folder}/{${kind}}`;
}

export function manifestFile(kind: ManifestKind, name: string): string {
  return places[kind].file(name);
}

/** The names that there are, by the files that exist. */
export function manifestNames(kind: ManifestKind, sources: Sources): string[] {
  return sources
    .list(places[kind].folder)
    .map((entry) => entry.replace(/\.ya?ml$/, ""))
    .filter((name) => sources.read(places[kind].file(name)) !== undefined);
}

/** Reads and checks one manifest; undefined when there is no such file. */
export function readManifest(
  kind: ManifestKind,
  name: string,
  sources: Sources,
): YamlSource | Diagnostic[] | undefined {
  const file = places[kind].file(name);
  const text = sources.read(file);
  if (text === undefined) return undefined;
  const source = parseYaml(file, text);
  if (Array.isArray(source)) return source;
  const problems = checkShape(source, places[kind].schema);
  if (problems.length > 0) return problems;
  const { name: said } = source.value as { name: string };
  if (said !== name) {
    problems.push({
      code: "name-differs",
      message: `the name is "${said}", and the file's place says "${name}"`,
      place: source.place(["name"]),
      help: "the two must be the same",
    });
  }
  if (kind === "task") {
    const isScorer = (scorer: string) => sources.read(places.scorer.file(scorer)) !== undefined;
    problems.push(...checkTask(source, { isScorer, scorerNames: () => manifestNames("scorer", sources) }));
  }
  if (kind === "scorer") problems.push(...checkScorer(source));
  return problems.length > 0 ? problems : source;
}
