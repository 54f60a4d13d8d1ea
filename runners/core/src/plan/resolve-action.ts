// Fills in what an instance does: what it runs, with which parameters, files and variables, for how long.

import type { Scalar } from "@mlrb/formats/declared/pipeline";
import { checkDeclaredFile, unknownFile } from "../spec/check-declared-file.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { type Lookup, TemplateProblem } from "../yaml/template.ts";
import type { Path } from "../yaml/yaml-source.ts";
import type { ActionSpec, Execution, PlannedStage, RunSpec } from "./plan.ts";
import type { ResolveContext } from "./resolve-context.ts";
import { resolveExecution } from "./resolve-execution.ts";
import { stageLookup } from "./stage-lookup.ts";
import { stageTexts } from "./stage-texts.ts";

export type Resolved = { action: ActionSpec; execution: Execution; environment?: string };

export function resolveAction(
  stage: PlannedStage,
  axes: Record<string, Scalar>,
  context: ResolveContext,
): Resolved {
  const { spec, name } = stage;
  const { source, sources, problems } = context;
  const lookup = stageLookup(stage, axes, context);
  const texts = stageTexts(lookup, context);
  const { filled, text, duration } = texts;
  const at = (path: Path): Path => ["stages", name, ...path];
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
    problems.push({ ...unknownFile(file, sources), place: source.place(path) });
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
    const written = spec[kind];
    const known = problems.length;
    const file = text(written, at([kind])) ?? "";
    if (file) exists(file, at([kind]));
    else if (written !== undefined && problems.length === known && manifestsKnown(context)) {
      const axis = /^\{(\w+)\./.exec(written)?.[1] ?? "";
      problems.push({
        code: "no-script",
        message: `"${name}" has nothing to run${axis in axes ? ` for ${axes[axis]}` : ""}: ${written} is empty`,
        place: source.place(at([kind])),
        help: "name a script there, by its path from the repository's root",
      });
    }
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
    .map(({ pattern, index }) => {
      const problem = checkDeclaredFile(pattern!, sources);
      if (problem) problems.push({ ...problem, place: source.place(at(["files", index])) });
      return pattern!;
    });
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

  return {
    action: {
      run,
      params,
      files,
      env: Object.fromEntries(env),
      secrets: texts.names(spec.secrets, at(["secrets"])),
      budget: {
        ...duration(spec.budget?.time, at(["budget", "time"])),
        ...texts.amount("tokens", spec.budget?.tokens, at(["budget", "tokens"])),
        ...texts.amount("dollars", spec.budget?.dollars, at(["budget", "dollars"])),
      },
      hostSensitive: texts.truth(spec.hostSensitive, at(["hostSensitive"])),
    },
    execution: resolveExecution(stage, texts, context),
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
function inputNames(stage: PlannedStage): string[] {
  const names = stage.needs.flatMap((need) => [need.name, `${need.stage}.${need.output}`]);
  return stage.collect.length > 0 ? [...names, "manifest"] : names;
}
