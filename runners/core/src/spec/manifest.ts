// Locates and reads the manifests that people add. The four kinds are named only here, and no task, scorer, agent or
// source is named at all.

import {
  type AgentPreset,
  agentPreset,
  presetOfAttempt,
  presetProviders,
} from "@mlrb/formats/declared/agent-preset";
import { type ScorerManifest, scorerManifest } from "@mlrb/formats/declared/scorer";
import { type SourceManifest, sourceManifest } from "@mlrb/formats/declared/source";
import { type TaskManifest, taskManifest } from "@mlrb/formats/declared/task";
import { checkShape } from "../yaml/check-shape.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { parseYaml, type YamlSource } from "../yaml/yaml-source.ts";
import { presetWithModel, splitAgentName } from "./agent-model.ts";
import { checkTask } from "./check-task.ts";
import { lockState, readSourceLock } from "./source-lock.ts";

/** Core's access to files. Paths are relative to the repository's root, with forward slashes. */
export type Sources = {
  read(path: string): string | undefined;
  /** Names in a folder, sorted by code unit; empty if the folder is missing. */
  list(folder: string): string[];
  /** Undefined if nothing is at the path. */
  kind(path: string): "file" | "dir" | undefined;
};

type Manifests = { task: TaskManifest; scorer: ScorerManifest; agent: AgentPreset; source: SourceManifest };

export type ManifestKind = keyof Manifests;

type Kind<Manifest> = {
  folder: string;
  file(name: string): string;
  /** The keys that its format has. */
  keys: string[];
  shape(source: YamlSource): YamlSource<Manifest> | Diagnostic[];
  /** Fields that are computed from the file, or from other files. */
  derived?: Record<string, (manifest: Manifest, sources: Sources) => unknown>;
  /** The problems beyond its shape. */
  rules(manifest: YamlSource<Manifest>, sources: Sources): Diagnostic[];
};

const kinds: { [Name in ManifestKind]: Kind<Manifests[Name]> } = {
  task: {
    folder: "tasks",
    file: (name) => `tasks/${name}/task.yaml`,
    keys: Object.keys(taskManifest.properties),
    shape: (source) => checkShape(source, taskManifest),
    rules: (task, sources) =>
      checkTask(task, {
        isScorer: (name) => sources.read(kinds.scorer.file(name)) !== undefined,
        scorerNames: () => manifestNames("scorer", sources),
        isSource: (name) => sources.read(kinds.source.file(name)) !== undefined,
        sourceNames: () => manifestNames("source", sources),
        scorerRange: (name) => scorerRange(name, sources),
      }),
  },
  scorer: {
    folder: "scorers",
    file: (name) => `scorers/${name}/scorer.yaml`,
    keys: Object.keys(scorerManifest.properties),
    shape: (source) => checkShape(source, scorerManifest),
    rules: checkScorer,
  },
  agent: {
    folder: "runners/agents/presets",
    file: (name) => `runners/agents/presets/${splitAgentName(name).preset}.yaml`,
    keys: Object.keys(agentPreset.properties),
    shape: (source) => checkShape(source, agentPreset),
    derived: { preset: presetOfAttempt, providers: presetProviders },
    rules: () => [],
  },
  source: {
    folder: "sources",
    file: (name) => `sources/${name}.yaml`,
    keys: Object.keys(sourceManifest.properties),
    shape: (source) => checkShape(source, sourceManifest),
    derived: { locked: lockedOf },
    rules: (_, sources) => {
      const lock = readSourceLock(sources);
      return Array.isArray(lock) ? lock : [];
    },
  },
};

/** The entry of sources.lock.yaml; null if there is none or it is of another state of the source. */
function lockedOf(manifest: SourceManifest, sources: Sources): unknown {
  const lock = readSourceLock(sources);
  const state = lockState(manifest, Array.isArray(lock) ? undefined : lock?.value);
  return state.kind === "resolved" ? state.entry : null;
}

/** The fields that `{kind.field}` can name, with their values in `manifest`. */
export function manifestFields<Name extends ManifestKind>(
  kind: Name,
  manifest: Manifests[Name],
  sources: Sources,
): Record<string, unknown> {
  const derived = Object.entries(kinds[kind].derived ?? {}).map(([name, field]) => [
    name,
    field(manifest, sources),
  ]);
  return { ...manifest, ...Object.fromEntries(derived) };
}

/** Their names, also of optional fields that a manifest lacks. */
export function manifestFieldNames(kind: ManifestKind): string[] {
  return [...kinds[kind].keys, ...Object.keys(kinds[kind].derived ?? {})];
}

export function isManifestKind(axis: string): axis is ManifestKind {
  return Object.hasOwn(kinds, axis);
}

/** The text by which a pipeline uses the folder of an axis value, e.g. `tasks/{task}`. */
export function folderPattern(kind: ManifestKind): string {
  return `${kinds[kind].folder}/{${kind}}`;
}

export function manifestFile(kind: ManifestKind, name: string): string {
  return kinds[kind].file(name);
}

/** The names of all manifests of a kind. */
export function manifestNames(kind: ManifestKind, sources: Sources): string[] {
  return sources
    .list(kinds[kind].folder)
    .map((entry) => entry.replace(/\.ya?ml$/, ""))
    .filter((name) => sources.read(kinds[kind].file(name)) !== undefined);
}

/** Reads and checks one manifest; undefined if there is no such file. */
export function readManifest<Name extends ManifestKind>(
  kind: Name,
  name: string,
  sources: Sources,
): YamlSource<Manifests[Name]> | Diagnostic[] | undefined {
  const { file, shape, rules } = kinds[kind];
  const text = sources.read(file(name));
  if (text === undefined) return undefined;
  const source = parseYaml(file(name), text);
  if (Array.isArray(source)) return source;
  const manifest = shape(source);
  if (Array.isArray(manifest)) return manifest;
  const problems = [...checkName(manifest, name), ...rules(manifest, sources)];
  if (problems.length > 0) return problems;
  return kind === "agent"
    ? (withModel(manifest as YamlSource<AgentPreset>, name) as typeof manifest | Diagnostic[])
    : manifest;
}

/** Why a sound manifest cannot be used in a plan, if it cannot. */
export function unplannable(kind: ManifestKind, source: YamlSource): Diagnostic | undefined {
  if (kind !== "agent") return undefined;
  const { name, kind: ofAgent, model } = source.value as AgentPreset;
  if (ofAgent !== "llm" || model === undefined || model.id !== undefined) return undefined;
  return {
    code: "no-model",
    message: `agent "${name}" is a scaffold without a model`,
    place: source.place(["model"]),
    help: "choose one: --set model=PROVIDER/ID, e.g. --set model=openai/gpt-4o-2024-08-06",
  };
}

function withModel(source: YamlSource<AgentPreset>, name: string): YamlSource<AgentPreset> | Diagnostic[] {
  const { model } = splitAgentName(name);
  if (model === undefined) return source;
  const preset = presetWithModel(source.value, { name, model });
  if ("message" in preset) return [{ code: "unknown-model", ...preset }];
  return { ...source, value: preset, place: source.place };
}

function checkName(manifest: YamlSource<{ name: string }>, name: string): Diagnostic[] {
  const said = manifest.value.name;
  if (said === splitAgentName(name).preset) return [];
  return [
    {
      code: "name-differs",
      message: `the name is "${said}", but the path says "${name}"`,
      place: manifest.place(["name"]),
      help: "the two must be the same",
    },
  ];
}

/** Undefined also for a scorer.yaml with problems, which are reported where it is used. */
function scorerRange(name: string, sources: Sources): ScorerManifest["range"] {
  const scorer = readManifest("scorer", name, sources);
  return scorer === undefined || Array.isArray(scorer) ? undefined : scorer.value.range;
}

/** Checks a scorer.yaml beyond its shape. */
function checkScorer(source: YamlSource<ScorerManifest>): Diagnostic[] {
  const { range } = source.value;
  if (!range || range[1] === null || range[0] < range[1]) return [];
  return [
    {
      code: "wrong-value",
      message: `"range" goes from ${range[0]} to ${range[1]}`,
      place: source.place(["range"]),
      help: "write the metric's minimum, then its maximum: [0, 1], or [0, null] for no maximum",
    },
  ];
}
