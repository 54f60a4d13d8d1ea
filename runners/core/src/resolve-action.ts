// Fills in what an instance does: its axes, parameters and the manifest fields it selects. Only what
// is selected here can reach an action key, so editing a title reruns nothing that does not show it.
import type { Json } from "@mlrb/kit/stage";
import type { Diagnostic } from "./diagnostic.ts";
import { isManifestKind, type ManifestKind, manifestFile, type Sources } from "./manifest.ts";
import type { ExecutionSpec, Scalar } from "./pipeline-spec.ts";
import type { ActionSpec, Execution, PlannedStage, RunSpec } from "./plan.ts";
import type { Axis } from "./resolve-axes.ts";
import { didYouMean } from "./suggest.ts";
import { fill, type Lookup, TemplateProblem } from "./template.ts";
import { parseDuration, parseSize } from "./units.ts";
import type { YamlSource } from "./yaml-source.ts";

export type ResolveContext = {
  source: YamlSource;
  sources: Sources;
  axes: Map<string, Axis>;
  manifests: Map<ManifestKind, Map<string, Record<string, unknown>>>;
  /** Fields a manifest may have, so that an absent optional one is told from a slip. */
  manifestFields: Record<ManifestKind, string[]>;
  params: Record<string, Json>;
  pipeline: { name: string; title: string };
  /** By stage name: its own settings with the profile's laid over. */
  execution: (stage: string) => ExecutionSpec;
  executors: string[];
  problems: Diagnostic[];
};

export type Resolved = { action: ActionSpec; execution: Execution; environment?: string };

export function resolveAction(
  stage: PlannedStage,
  axes: Record<string, Scalar>,
  context: ResolveContext,
): Resolved {
  const { spec, name } = stage;
  const { source, sources, problems } = context;
  const lookup = lookupFor(stage, axes, context);
  const at = (...path: (string | number)[]) => source.place(["stages", name, ...path]);
  const filled = (value: Json, path: (string | number)[], find: Lookup = lookup): Json => {
    try {
      return fill(value, find);
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error;
      problems.push({
        code: "unknown-placeholder",
        message: `{${error.placeholder}}: ${error.message}`,
        place: at(...path),
        ...(error.help && { help: error.help }),
      });
      return null;
    }
  };
  const text = (value: string | undefined, ...path: (string | number)[]): string | undefined => {
    if (value === undefined) return undefined;
    const result = filled(value, path);
    return result === null ? undefined : String(result);
  };
  const exists = (file: string | undefined, ...path: (string | number)[]) => {
    if (file === undefined || sources.read(file) !== undefined) return;
    const folder = file.split("/").slice(0, -1).join("/");
    const near = sources.list(folder).map((entry) => (folder ? `${folder}/${entry}` : entry));
    const help = near.length > 0 ? didYouMean(file, near) : "paths are relative to the repository's root";
    problems.push({ code: "unknown-file", message: `there is no file ${file}`, place: at(...path), help });
  };

  const params: Record<string, Json> = {};
  for (const [key, value] of Object.entries(spec.params ?? {})) params[key] = filled(value, ["params", key]);
  const withParams: Lookup = (key) =>
    key.startsWith("params.") && Object.hasOwn(params, key.slice(7)) ? params[key.slice(7)] : lookup(key);

  let run: RunSpec;
  if (spec.command !== undefined) {
    const find: Lookup = (key) => pathPlaceholder(stage, key) ?? withParams(key);
    const command = Array.isArray(spec.command)
      ? spec.command.map((part, index) => String(filled(part, ["command", index], find) ?? ""))
      : String(filled(spec.command, ["command"], find) ?? "");
    run = { kind: "command", command };
  } else {
    const kind = spec.python !== undefined ? "python" : "script";
    const file = text(spec[kind], kind) ?? "";
    if (file) exists(file, kind);
    run = { kind, file };
  }

  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(spec.env ?? {})) {
    const result = filled(value, ["env", key], withParams);
    if (result !== null) env[key] = String(result);
  }
  const files = (spec.files ?? [])
    .map((pattern, index) => text(pattern, "files", index))
    .filter((one) => one !== undefined);
  const environment = text(spec.environment, "environment");
  if (environment !== undefined) exists(environment, "environment");

  const duration = (value: string | undefined, ...path: string[]): { timeMs?: number } => {
    const written = text(value, ...path);
    if (written === undefined) return {};
    const timeMs = parseDuration(written);
    if (timeMs !== undefined) return { timeMs };
    problems.push({
      code: "bad-duration",
      message: `"${written}" is not a duration`,
      place: at(...path),
      help: "write a duration with its unit, e.g. 90s, 30m or 24h",
    });
    return {};
  };
  const execution = context.execution(name);
  const memory = execution.resources?.memory;
  const memoryBytes = memory === undefined ? 0 : parseSize(text(memory, "resources", "memory") ?? "");
  if (memoryBytes === undefined) {
    problems.push({
      code: "bad-size",
      message: `"${memory}" is not a size`,
      place: at("resources", "memory"),
      help: "write a size with its unit, e.g. 64GiB or 12GB",
    });
  }
  const executor = execution.executor ?? "local";
  if (!context.executors.includes(executor)) {
    problems.push({
      code: "unknown-executor",
      message: `"${name}" is sent to "${executor}", and there is no such executor`,
      place: source.place(["stages", name], "key"),
      help: didYouMean(executor, context.executors),
    });
  }
  return {
    action: {
      run,
      params,
      files,
      env,
      secrets: spec.secrets ?? [],
      budget: duration(spec.budget?.time, "budget", "time"),
      hostSensitive: spec.hostSensitive ?? false,
    },
    execution: {
      executor,
      resources: {
        cpus: execution.resources?.cpus ?? 1,
        memoryBytes: memoryBytes ?? 0,
        gpus: execution.resources?.gpus ?? 0,
      },
      limits: duration(execution.limits?.time, "limits", "time"),
    },
    ...(environment !== undefined && { environment }),
  };
}

/** `{inputs.x}` and `{outputs.x}` stay as they are: the executor knows the paths, keys must not. */
function pathPlaceholder(stage: PlannedStage, key: string): string | undefined {
  const [kind, ...rest] = key.split(".");
  if (kind !== "inputs" && kind !== "outputs") return undefined;
  const name = rest.join(".");
  const known = kind === "outputs" ? stage.gives.map((output) => output.name) : inputNames(stage);
  if (!known.includes(name))
    throw new TemplateProblem(
      key,
      `"${stage.name}" has no ${kind.slice(0, -1)} "${name}"`,
      didYouMean(name, known),
    );
  return `\u0001{${key}}`;
}

/** The names a stage's command may use for its inputs: its own and `stage.output`. */
export function inputNames(stage: PlannedStage): string[] {
  const names = stage.needs.flatMap((need) => [need.name, `${need.stage}.${need.output}`]);
  return stage.collect.length > 0 ? [...names, "manifest"] : names;
}

function lookupFor(stage: PlannedStage, axes: Record<string, Scalar>, context: ResolveContext): Lookup {
  const { params, pipeline, manifests } = context;
  return (name) => {
    const [head, ...path] = name.split(".") as [string, ...string[]];
    if (head === "params") {
      if (Object.hasOwn(params, path.join("."))) return params[path.join(".")];
      throw new TemplateProblem(
        name,
        `no parameter "${path.join(".")}"`,
        didYouMean(path.join("."), Object.keys(params)),
      );
    }
    if (head === "pipeline" && (path[0] === "name" || path[0] === "title")) return pipeline[path[0]];
    if (path.length === 0) {
      if (Object.hasOwn(axes, head)) return axes[head];
      const help = context.axes.has(head)
        ? `add ${head} to the stage's each`
        : didYouMean(head, Object.keys(axes));
      throw new TemplateProblem(name, `"${stage.name}" has no axis "${head}"`, help);
    }
    if (!isManifestKind(head) || !context.axes.has(head)) {
      throw new TemplateProblem(
        name,
        "names no axis with manifests",
        didYouMean(head, ["params", "pipeline", ...context.axes.keys()]),
      );
    }
    const select = (value: Scalar): Json => {
      const manifest = manifests.get(head)?.get(String(value));
      return manifest
        ? field(name, manifest as Json, {
            kind: head,
            value,
            path,
            context,
            axes: { ...axes, [head]: value },
          })
        : null;
    };
    if (Object.hasOwn(axes, head)) return select(axes[head]!);
    return Object.fromEntries(context.axes.get(head)!.values.map((value) => [String(value), select(value)]));
  };
}

function field(
  name: string,
  manifest: Json,
  from: {
    kind: ManifestKind;
    value: Scalar;
    path: string[];
    context: ResolveContext;
    axes: Record<string, Scalar>;
  },
): Json {
  let value: Json | undefined = manifest;
  for (const [depth, step] of from.path.entries()) {
    const holder: Record<string, Json> =
      value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
    value = Object.hasOwn(holder, step) ? holder[step] : undefined;
    if (value !== undefined) continue;
    const known = depth === 0 ? from.context.manifestFields[from.kind] : Object.keys(holder);
    if (depth === 0 && known.includes(step)) return null;
    throw new TemplateProblem(
      name,
      `${manifestFile(from.kind, String(from.value))} has no "${from.path.slice(0, depth + 1).join(".")}"`,
      didYouMean(step, known),
    );
  }
  return ownAxes(value ?? null, from.axes);
}

/** A manifest may name the axes of whoever selects it: `program: tasks/{task}/baselines`. */
function ownAxes(value: Json, axes: Record<string, Scalar>): Json {
  if (typeof value === "string")
    return value.replace(/\{(\w+)\}/g, (all, axis) => (Object.hasOwn(axes, axis) ? String(axes[axis]) : all));
  if (Array.isArray(value)) return value.map((item) => ownAxes(item, axes));
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ownAxes(item, axes)]));
  return value;
}
