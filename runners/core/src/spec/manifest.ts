// Locates and reads the manifests that people add. The kinds are named only here, and no task, scorer, agent, source
// or rubric is named at all.

import {
  type AgentPreset,
  agentPreset,
  presetOfAttempt,
  presetProviders,
} from "@mlrb/formats/declared/agent-preset";
import { type Rubric, rubricFile } from "@mlrb/formats/declared/rubric";
import { type ScorerManifest, scorerManifest } from "@mlrb/formats/declared/scorer";
import { type SourceManifest, sourceManifest } from "@mlrb/formats/declared/source";
import { type TaskManifest, taskManifest } from "@mlrb/formats/declared/task";
import { isTable } from "@mlrb/formats/is-table";
import { type ShapeProblem, shapeProblems } from "../yaml/check-shape.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { suggest } from "../yaml/suggest.ts";
import { parseYaml, type YamlSource } from "../yaml/yaml-source.ts";
import { exampleModel, presetNamed, splitAgentName } from "./agent-model.ts";
import { fieldValue } from "./axis-field.ts";
import { checkAgent } from "./check-agent.ts";
import { checkNamedPath } from "./check-declared-file.ts";
import { checkRubric } from "./check-rubric.ts";
import { checkTask } from "./check-task.ts";
import { checkTeam, type MemberPresets } from "./check-team.ts";
import { lockState, readSourceLock } from "./source-lock.ts";
import type { Sources } from "./sources.ts";
import { levelOf, splitTaskName, taskAtLevel } from "./task-level.ts";
import { withMembers } from "./team-members.ts";

export type { Sources } from "./sources.ts";

type Manifests = {
  task: TaskManifest;
  scorer: ScorerManifest;
  agent: AgentPreset;
  /** A preset of an agent, of which only the fields about its model count. */
  judge: AgentPreset;
  rubric: Rubric;
  source: SourceManifest;
};

export type ManifestKind = keyof Manifests;

type Kind<Manifest> = {
  folder: string;
  file(name: string): string;
  schema: { properties: object; required: readonly string[] };
  /** Fields that are computed from the file, or from other files. */
  derived?: Record<string, (manifest: Manifest, sources: Sources) => unknown>;
  /**
   * The problems beyond its shape. `lost` are fields that a problem of shape leaves unknown; `manifest` lacks
   * them, and `written` has them.
   */
  rules(
    manifest: YamlSource<Manifest>,
    sources: Sources,
    lost: ReadonlySet<string>,
    written: YamlSource,
  ): Diagnostic[];
};

const preset: Kind<AgentPreset> = {
  folder: "runners/agents/presets",
  file: (name) => `runners/agents/presets/${splitAgentName(name).preset}.yaml`,
  schema: agentPreset,
  rules: (_, sources, lost, written) => [
    ...checkAgent(written, sources, lost),
    ...checkTeam(written, memberPresets(sources), lost),
  ],
};

const kinds: { [Name in ManifestKind]: Kind<Manifests[Name]> } = {
  task: {
    folder: "tasks",
    file: (name) => `tasks/${splitTaskName(name).folder}/task.yaml`,
    schema: taskManifest,
    derived: {
      memoryRules: ({ rules }) => rules?.filter(({ method }) => method === "memory-max") ?? [],
      folder: ({ name }) => splitTaskName(name).folder,
      level: levelOf,
      bestOf: bestOfTask,
    },
    rules: (task, sources, lost) => [
      ...checkTask(
        task,
        {
          isThere: (kind, name) => sources.read(kinds[kind].file(name)) !== undefined,
          names: (kind) => manifestNames(kind, sources),
          scorerRange: (name) => scorerRange(name, sources),
        },
        lost,
      ),
      ...namedFiles(task, sources, [
        ...[["environment"], ["generate"]],
        ...Object.keys(task.value.models ?? {}).map((kind) => ["models", kind]),
      ]),
    ],
  },
  scorer: {
    folder: "scorers",
    file: (name) => `scorers/${name}/scorer.yaml`,
    schema: scorerManifest,
    rules: (scorer, sources) => [...checkScorer(scorer), ...namedFiles(scorer, sources, [["environment"]])],
  },
  agent: { ...preset, derived: { preset: presetOfAttempt, providers: presetProviders } },
  judge: {
    ...preset,
    derived: {
      model: ({ provider, model }) => ({ provider, ...model }),
      providers: ({ provider }) => [provider], // not the planner's
      // the answers of a recorded judge; no other judge reads them
      recording: ({ provider, model }) =>
        provider === recorded && model?.id ? `pipelines/judges/recorded/${model.id}` : undefined,
    },
  },
  rubric: {
    folder: "pipelines/judges",
    file: (name) => `pipelines/judges/${name}.yaml`,
    schema: rubricFile,
    rules: (rubric, _, lost) => (lost.has("questions") ? [] : checkRubric(rubric)),
  },
  source: {
    folder: "sources",
    file: (name) => `sources/${name}.yaml`,
    schema: sourceManifest,
    derived: { locked: lockedOf },
    rules: (_, sources) => {
      const lock = readSourceLock(sources);
      return Array.isArray(lock) ? lock : [];
    },
  },
};

/** For `{task.bestOf.KIND}`: when an attempt succeeds, and the scorer of public `rows`; nulls without one. */
function bestOfTask({ devScorers = {}, success = {}, scorers, generate }: TaskManifest, sources: Sources) {
  const ofKind = (kind: string) => {
    const rows = devScorers[kind] ?? null;
    const read = rows && readManifest("scorer", rows.scorer, sources);
    const scorer = read && !Array.isArray(read) ? read.value : null;
    const { name = "", title, unit, direction, digits = 3, range = null } = scorer ?? {};
    const generated = scorers[kind]!.includes(name) ? generate : undefined; // the task's own judge those texts
    return {
      ...Object.fromEntries(manifestFieldNames("scorer").map((field) => [field, null])),
      ...{ ...scorer, rows, success: success[kind] ?? null, generate: generated ?? null },
      script: scorer && `scorers/${name}/measure.py`,
      metric: scorer && { name, title, unit, direction, digits, range },
    };
  };
  return Object.fromEntries(Object.keys(scorers).map((kind) => [kind, ofKind(kind)]));
}

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
  const { schema, derived = {} } = kinds[kind];
  return [...new Set([...Object.keys(schema.properties), ...Object.keys(derived)])];
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

/** The names of all manifests of a kind; of judges only presets with a model, of agents none whose answers are recorded. */
export function manifestNames(kind: ManifestKind, sources: Sources): string[] {
  return sources
    .list(kinds[kind].folder)
    .map((entry) => entry.replace(/\.ya?ml$/, ""))
    .filter((name) => sources.read(kinds[kind].file(name)) !== undefined)
    .filter((name) => kind !== "agent" || soundPreset(name, sources)?.provider !== recorded)
    .filter((name) => kind !== "judge" || soundPreset(name, sources)?.model !== undefined);
}

/** The provider of a preset that can only judge. */
const recorded = "recorded";

function soundPreset(name: string, sources: Sources): AgentPreset | undefined {
  const preset = readManifest("judge", name, sources);
  return preset === undefined || Array.isArray(preset) ? undefined : preset.value;
}

/** The shortest name of a preset whose model each run chooses. */
export function openPreset(sources: Sources): string | undefined {
  const open = manifestNames("judge", sources).filter(
    (name) => soundPreset(name, sources)?.model?.id === undefined,
  );
  return open.sort((a, b) => a.length - b.length)[0];
}

type Read<Name extends ManifestKind> = YamlSource<Manifests[Name]> | Diagnostic[] | undefined;

/** Manifests by kind and file: of a task, all levels have one. */
const alreadyRead = new WeakMap<Sources, Map<string, Read<ManifestKind>>>();

/** Reads and checks one manifest, all its problems at once; undefined if there is no such file. */
export function readManifest<Name extends ManifestKind>(
  kind: Name,
  name: string,
  sources: Sources,
): Read<Name> {
  const known = alreadyRead.getOrInsertComputed(sources, () => new Map());
  const key = `${kind} ${kinds[kind].file(name)}`;
  const manifest = known.getOrInsertComputed(key, () => readFile(kind, name, sources)) as Read<Name>;
  if (manifest === undefined || Array.isArray(manifest)) return manifest;
  // a program cannot judge with any model
  const isVaried =
    name !== manifest.value.name && (kind !== "judge" || (manifest.value as AgentPreset).kind === "llm");
  const chosen = isVaried ? varied(manifest, kind, name) : manifest;
  const isTeam = kind === "agent" && (manifest.value as AgentPreset).kind === "team";
  return (
    isTeam && !Array.isArray(chosen)
      ? withMembers(chosen as YamlSource<AgentPreset>, (agent) => readManifest("agent", agent, sources))
      : chosen
  ) as Read<Name>;
}

function readFile<Name extends ManifestKind>(kind: Name, name: string, sources: Sources): Read<Name> {
  const { file, schema, rules } = kinds[kind];
  const text = sources.read(file(name));
  if (text === undefined) return undefined;
  const source = parseYaml(file(name), text);
  if (Array.isArray(source)) return source;
  const shape = shapeProblems(source, schema);
  const problems = [...source.problems, ...shape.map(({ problem }) => problem)];
  if (!isTable(source.value) || problems.some(({ code }) => code === "format-version")) return problems;
  const lost = lostKeys(source.value, shape, schema);
  const known = Object.entries(source.value).filter(([key]) => !lost.has(key));
  const manifest = { ...source, value: Object.fromEntries(known) as Manifests[Name] };
  if (!lost.has("name")) problems.push(...checkName(manifest, name));
  problems.push(...rules(manifest, sources, lost, source));
  return problems.length > 0 ? problems : manifest;
}

/** The fields that have a problem of shape in them, are missing, or are misspelt. */
function lostKeys(
  value: Record<string, unknown>,
  shape: ShapeProblem[],
  { properties, required }: Kind<unknown>["schema"],
): Set<string> {
  const lost = new Set(required.filter((key) => !Object.hasOwn(value, key)));
  for (const { path, key } of shape) {
    const [field = suggest(key ?? "", Object.keys(properties))] = path;
    if (field !== undefined) lost.add(String(field));
  }
  return lost;
}

/** `fields`: where files are named. */
function namedFiles(source: YamlSource, sources: Sources, fields: string[][]): Diagnostic[] {
  return fields.flatMap((path) => {
    const found = fieldValue(source.value, path);
    const file = found.kind === "found" ? found.value : undefined;
    const problem = typeof file === "string" && file ? checkNamedPath(file, ["file"], sources) : undefined;
    return problem ? { ...problem, place: source.place(path) } : [];
  });
}

/** Why a sound manifest cannot be used in a plan, if it cannot. */
export function unplannable(kind: ManifestKind, source: YamlSource): Diagnostic | undefined {
  if (kind !== "agent" && kind !== "judge") return undefined;
  const { name, kind: ofAgent, model, provider, team } = source.value as AgentPreset;
  if (kind === "agent" && provider === recorded)
    return {
      code: "unknown-agent",
      message: `"${name}" is no agent: it has recorded answers of a judge`,
      place: source.place(["provider"]),
      help: "choose another: `pnpm pipeline list agents` shows all",
    };
  const isCalled = ofAgent === "llm" && model !== undefined;
  const open = team?.members.find(({ preset }) => isTable(preset?.model) && preset.model.id === undefined);
  if (open)
    return {
      code: "no-model",
      message: `member "${open.name}" of the team "${name}" is a scaffold without a model`,
      place: source.place(["team", "members"]),
      help: `choose one: --set model=PROVIDER/ID, e.g. --set model=${exampleModel}`,
    };
  if (!isCalled && kind === "agent") return undefined;
  if (isCalled && model.id !== undefined && (kind === "agent" || provider !== undefined)) return undefined;
  const isOpen = isCalled && model.id === undefined;
  const choice = `--set ${kind === "agent" ? "model" : kind}`;
  return {
    code: "no-model",
    message: isOpen
      ? `${kind} "${name}" is a scaffold without a model`
      : `"${name}" cannot judge: the preset names no provider and model to call`,
    place: source.place([isOpen ? "model" : "kind"]),
    help: `choose one: ${choice}=PROVIDER/ID, e.g. ${choice}=${exampleModel}`,
  };
}

/** The manifest that a name with `@` or `+` varies: an agent with another model or other limits, a task at a level. */
function varied(source: YamlSource<unknown>, kind: ManifestKind, name: string) {
  const value =
    kind === "task"
      ? taskAtLevel(source.value as TaskManifest, name)
      : presetNamed(source.value as AgentPreset, name);
  if ("message" in value) return [{ code: kind === "task" ? "unknown-level" : "unknown-model", ...value }];
  return { ...source, value, place: source.place };
}

function memberPresets(sources: Sources): MemberPresets {
  return {
    // without a look into them: those of teams would ask for names again
    names: () => sources.list(preset.folder).map((entry) => entry.replace(/\.yaml$/, "")),
    presetOf(agent) {
      const { preset, allowance } = splitAgentName(agent);
      const written = sources.read(kinds.agent.file(preset));
      if (allowance !== undefined || written === undefined) return undefined;
      const parsed = parseYaml(kinds.agent.file(preset), written);
      // not read as a manifest: a team may name itself
      if (!Array.isArray(parsed) && isTable(parsed.value) && parsed.value.kind === "team") return "team";
      const found = readManifest("agent", agent, sources);
      return Array.isArray(found) ? found : found?.value;
    },
  };
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
