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
import type { Path, YamlSource } from "./yaml-source.ts";

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
  /** The path at which such a setting is written. */
  written: (stage: string, setting: Path) => Path;
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
  const at = (path: Path): Path => ["stages", name, ...path];
  const filled = (value: Json, path: Path, find: Lookup = lookup): Json => {
    try {
      return fill(value, find);
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error;
      problems.push({
        code: "unknown-placeholder",
        message: `{${error.placeholder}}: ${error.message}`,
        place: source.placeOf(path, `{${error.placeholder}}`),
        ...(error.help && { help: error.help }),
      });
      return null;
    }
  };
  const text = (value: string | undefined, path: Path, find: Lookup = lookup): string | undefined => {
    if (value === undefined) return undefined;
    const result = filled(value, path, find);
    if (result !== null && typeof result === "object") {
      const message = `${value} is a ${Array.isArray(result) ? "list" : "table"}, where text is wanted`;
      problems.push({ code: "wrong-type", message, place: source.place(path) });
      return undefined;
    }
    return result === null ? undefined : String(result);
  };
  const inside = (file: string | undefined, path: Path): file is string => {
    if (file === undefined) return false;
    if (!/^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(file)) return true;
    problems.push({
      code: "outside-repository",
      message: `${file} does not stay within the repository`,
      place: source.place(path),
      help: "write a path from the repository's root, without ..",
    });
    return false;
  };
  const exists = (file: string | undefined, path: Path) => {
    if (!inside(file, path) || sources.read(file) !== undefined) return;
    const folder = file.split("/").slice(0, -1).join("/");
    const near = sources.list(folder).map((entry) => (folder ? `${folder}/${entry}` : entry));
    const help = near.length > 0 ? didYouMean(file, near) : "paths are relative to the repository's root";
    problems.push({
      code: "unknown-file",
      message: `there is no file ${file}`,
      place: source.place(path),
      help,
    });
  };

  const params = Object.fromEntries(
    Object.entries(spec.params ?? {}).map(([key, value]) => [key, filled(value, at(["params", key]))]),
  );
  const withParams: Lookup = (key) =>
    key.startsWith("params.") && Object.hasOwn(params, key.slice(7)) ? params[key.slice(7)] : lookup(key);

  let run: RunSpec;
  if (spec.command !== undefined) {
    const find: Lookup = (key) => pathPlaceholder(stage, key) ?? withParams(key);
    const command = Array.isArray(spec.command)
      ? spec.command.map((part, index) => text(part, at(["command", index]), find) ?? "")
      : (text(spec.command, at(["command"]), find) ?? "");
    run = { kind: "command", command };
  } else {
    const kind = spec.python !== undefined ? "python" : "script";
    const file = text(spec[kind], at([kind])) ?? "";
    if (file) exists(file, at([kind]));
    run = { kind, file };
  }

  const env: [string, string][] = [];
  for (const [key, value] of Object.entries(spec.env ?? {})) {
    const result = text(String(value), at(["env", key]), withParams);
    if (result !== undefined) env.push([key, result]);
  }
  const files = (spec.files ?? [])
    .map((pattern, index) => ({ pattern: text(pattern, at(["files", index])), index }))
    .filter(({ pattern, index }) => inside(pattern, at(["files", index])))
    .map(({ pattern }) => pattern!);
  const known = problems.length;
  const environment = text(spec.environment, at(["environment"]));
  exists(environment, at(["environment"]));
  if (
    spec.python !== undefined &&
    spec.environment !== undefined &&
    environment === undefined &&
    problems.length === known &&
    manifestsKnown(context)
  )
    problems.push({
      code: "no-environment",
      message: `"${name}" runs Python, and ${spec.environment} is empty`,
      place: source.place(at(["environment"])),
      help: "name a lock file",
    });

  const duration = (value: string | undefined, path: Path): { timeMs?: number } => {
    const written = text(value, path);
    if (written === undefined) return {};
    const timeMs = parseDuration(written);
    if (timeMs !== undefined) return { timeMs };
    problems.push({
      code: "bad-duration",
      message: `"${written}" is not a duration`,
      place: source.place(path),
      help: "write a duration with its unit, e.g. 90s, 30m or 24h",
    });
    return {};
  };
  const size = (value: string | undefined, path: Path): number => {
    const written = text(value, path);
    if (written === undefined) return 0;
    const bytes = parseSize(written);
    if (bytes !== undefined) return bytes;
    problems.push({
      code: "bad-size",
      message: `"${written}" is not a size`,
      place: source.place(path),
      help: "write a size with its unit, e.g. 64GiB or 12GB",
    });
    return 0;
  };
  const { executor, resources, limits } = context.execution(name);
  const set = (...setting: string[]) => context.written(name, setting);
  return {
    action: {
      run,
      params,
      files,
      env: Object.fromEntries(env),
      secrets: spec.secrets ?? [],
      budget: duration(spec.budget?.time, at(["budget", "time"])),
      hostSensitive: spec.hostSensitive ?? false,
    },
    execution: {
      executor: executor ?? "local",
      resources: {
        cpus: resources?.cpus ?? 1,
        memoryBytes: size(resources?.memory, set("resources", "memory")),
        gpus: resources?.gpus ?? 0,
      },
      limits: {
        ...duration(limits?.time, set("limits", "time")),
        ...(limits?.memory !== undefined && {
          memoryBytes: size(limits.memory, set("limits", "memory")),
        }),
      },
      retries: spec.retries ?? 0,
    },
    ...(environment !== undefined && { environment }),
  };
}

/** False where a manifest could not be read: what it would have said is not missing, only untold. */
function manifestsKnown({ axes, manifests }: ResolveContext): boolean {
  return [...manifests].every(([kind, known]) =>
    (axes.get(kind)?.values ?? []).every((value) => known.has(String(value))),
  );
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
  const open = new Set<string>();
  const lookup: Lookup = (name) => {
    const [head, ...path] = name.split(".") as [string, ...string[]];
    if (head === "params") {
      if (open.has(name)) throw new TemplateProblem(name, "its value leads back to itself");
      if (Object.hasOwn(params, path.join("."))) {
        // a pipeline's parameter may name others and the axes of the stage that asks
        open.add(name);
        try {
          return fill(params[path.join(".")]!, lookup);
        } finally {
          open.delete(name);
        }
      }
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
    if (head === "pipeline")
      throw new TemplateProblem(
        name,
        "a pipeline has a name and a title",
        didYouMean(path.join("."), ["name", "title"]),
      );
    if (head === "inputs" || head === "outputs")
      throw new TemplateProblem(
        name,
        "paths are known in a command only",
        "a script gets them from kit's stage()",
      );
    if (!isManifestKind(head) || !context.axes.has(head)) {
      throw new TemplateProblem(
        name,
        "names no axis with manifests",
        didYouMean(head, ["params", "pipeline", ...[...context.axes.keys()].filter(isManifestKind)]),
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
  return lookup;
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
    return value.replace(/\{([\w-]+)\}/g, (all, axis) =>
      Object.hasOwn(axes, axis) ? String(axes[axis]) : all,
    );
  if (Array.isArray(value)) return value.map((item) => ownAxes(item, axes));
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ownAxes(item, axes)]));
  return value;
}
