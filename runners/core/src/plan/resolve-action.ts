// Resolves the action of an instance: its program, parameters, files, variables and budget.

import type { Scalar } from "@mlrb/formats/declared/pipeline";
import type { Json } from "@mlrb/kit/stage";
import { checkDeclaredFile, outsideRepository, unknownFile } from "../spec/check-declared-file.ts";
import { servicesNamed } from "../spec/services.ts";
import { formatDuration } from "../text/units.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { type Lookup, TemplateProblem } from "../yaml/template.ts";
import type { Path } from "../yaml/yaml-source.ts";
import { allowedLimits } from "./allowances.ts";
import type { ActionSpec, Execution, PlannedStage, RunSpec } from "./plan.ts";
import type { ResolveContext } from "./resolve-context.ts";
import { resolveExecution } from "./resolve-execution.ts";
import { stageLookup } from "./stage-lookup.ts";
import { StageTexts } from "./stage-texts.ts";

export type Resolved = {
  action: ActionSpec;
  execution: Execution;
  environment?: string;
  /** The service that it uses. */
  uses?: string;
  /** False where the stage has a `when` without a value. */
  planned: boolean;
};

/** A stage at one point of its axes. */
type Point = {
  stage: PlannedStage;
  axes: Record<string, Scalar>;
  context: ResolveContext;
  texts: StageTexts;
  /** Also finds the stage's own filled-in parameters. */
  withParams: Lookup;
  planned: boolean;
};

export function resolveAction(
  stage: PlannedStage,
  axes: Record<string, Scalar>,
  context: ResolveContext,
): Resolved {
  const { spec } = stage;
  const lookup = stageLookup(stage, axes, context);
  const texts = new StageTexts(lookup, context);
  const planned = [spec.when ?? []]
    .flat()
    .every((field) => holdsSomething(texts.filled(field, at(stage, "when"))));
  const params = Object.fromEntries(
    Object.entries(spec.params ?? {}).map(([key, value]) => [
      key,
      texts.filled(value, at(stage, "params", key), (name) => addressPlaceholder(name) ?? lookup(name)),
    ]),
  );
  const withParams: Lookup = (key) =>
    key.startsWith("params.") && Object.hasOwn(params, key.slice(7)) ? params[key.slice(7)] : lookup(key);
  const point = { stage, axes, context, texts, withParams, planned };
  const run = spec.command === undefined ? scriptOf(point) : commandOf(point, spec.command);
  const env = envOf(point);
  const files = filesOf(point);
  const environment = environmentOf(point);
  const { time, tokens, dollars, dollarsPerMachineHour } = context.execution(stage.name).budget ?? {};
  const limit = (name: string) => context.written(stage.name, ["budget", name]);
  const uses = usedService(point, servicesNamed([params, "command" in run ? run.command : ""]));
  const written = {
    execution: resolveExecution(stage, texts, context),
    budget: {
      ...texts.duration(time, limit("time")),
      ...texts.amount("tokens", tokens, limit("tokens")),
      ...texts.amount("dollars", dollars, limit("dollars")),
    },
  };
  const { price } = texts.amount("price", dollarsPerMachineHour, limit("dollarsPerMachineHour"));
  const of = { stage, agent: String(axes.agent), price };
  const { budget, execution } = allowedLimits(written, of, { texts, context });
  if (stage.durable) checkTimeLimit({ name: stage.name, budget, execution }, context);
  return {
    action: {
      run,
      params,
      files,
      env,
      secrets: texts.names(spec.secrets, at(stage, "secrets")),
      budget,
      hostSensitive: texts.truth(spec.hostSensitive, at(stage, "hostSensitive")),
    },
    execution,
    ...(environment !== undefined && { environment }),
    ...(uses !== undefined && { uses }),
    planned,
  };
}

function holdsSomething(value: Json): boolean {
  if (value === null || value === "" || value === false) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** The limit also counts waits and what comes before and after the work, so it would end an attempt as failed. */
function checkTimeLimit(
  { name, budget, execution }: { name: string; budget: { timeMs?: number }; execution: Execution },
  { source, problems, written }: ResolveContext,
): void {
  const { timeMs } = execution.limits;
  if (timeMs === undefined || budget.timeMs === undefined || timeMs > budget.timeMs) return;
  problems.push({
    code: "limit-under-budget",
    message: `"${name}" is stopped as failed after ${formatDuration(timeMs)}, before its budget of ${formatDuration(budget.timeMs)} ends: what it made would be lost`,
    place: source.place(written(name, ["limits", "time"])),
    help: "write limits: { time: null } at the stage, also in the profile; the budget ends it",
  });
}

function at({ name }: PlannedStage, ...path: Path): Path {
  return ["stages", name, ...path];
}

function commandOf({ stage, texts, withParams }: Point, command: string | string[]): RunSpec {
  const lookup: Lookup = (key) => pathPlaceholder(stage, key) ?? withParams(key);
  const filled = (text: string, path: Path) => texts.text(text, path, lookup) ?? "";
  return {
    kind: "command",
    command: Array.isArray(command)
      ? command.map((part, index) => filled(part, at(stage, "command", index)))
      : filled(command, at(stage, "command")),
  };
}

function scriptOf({ stage, axes, context, texts, planned }: Point): RunSpec {
  const { source, problems } = context;
  const kind = stage.spec.python !== undefined ? "python" : "script";
  const written = stage.spec[kind];
  const before = problems.length;
  const file = texts.text(written, at(stage, kind)) ?? "";
  if (file) checkExists(file, at(stage, kind), context);
  else if (written !== undefined && planned && problems.length === before) {
    const axis = /^\{(\w+)\./.exec(written)?.[1] ?? "";
    problems.push({
      code: "no-script",
      message: `"${stage.name}" has nothing to run${axis in axes ? ` for ${axes[axis]}` : ""}: ${written} is empty`,
      place: source.place(at(stage, kind)),
      help: "name a script there, by its path from the repository's root",
    });
  }
  return { kind, file };
}

function envOf({ stage, texts, withParams }: Point): Record<string, string> {
  return Object.fromEntries(
    Object.entries(stage.spec.env ?? {}).flatMap(([key, value]) => {
      const text = texts.text(String(value), at(stage, "env", key), withParams);
      return text === undefined ? [] : [[key, text]];
    }),
  );
}

function filesOf({ stage, context, texts }: Point): string[] {
  return (stage.spec.files ?? []).flatMap((written, index) => {
    const path = at(stage, "files", index);
    const pattern = texts.text(written, path);
    if (pattern === undefined || reports(outsideRepository(pattern), path, context)) return [];
    reports(checkDeclaredFile(pattern, context.sources), path, context);
    return [pattern];
  });
}

function environmentOf({ stage, context, texts, planned }: Point): string | undefined {
  const { source, problems } = context;
  const { python, environment: written } = stage.spec;
  const path = at(stage, "environment");
  const before = problems.length;
  const environment = texts.text(written, path);
  if (environment !== undefined) checkExists(environment, path, context);
  else if (planned && python !== undefined && written !== undefined && problems.length === before)
    problems.push({
      code: "no-environment",
      message: `"${stage.name}" runs Python, and ${written} is empty`,
      place: source.place(path),
      help: "name a lock file",
    });
  return environment;
}

function checkExists(file: string, path: Path, context: ResolveContext): void {
  const { sources } = context;
  if (reports(outsideRepository(file), path, context) || sources.kind(file) === "file") return;
  reports(unknownFile(file, sources), path, context);
}

/** Whether there is a problem with what is written at `path`; it is reported. */
function reports(found: Diagnostic | undefined, path: Path, { source, problems }: ResolveContext): boolean {
  if (found) problems.push({ ...found, place: source.place(path) });
  return found !== undefined;
}

/** Keeps the address of a service as a placeholder: it changes with each start, and keys must not hold it. */
function addressPlaceholder(key: string): string | undefined {
  return /^services\.[\w-]+\.url$/.test(key) ? `\u0001{${key}}` : undefined;
}

/**
 * The service that an instance names and that is for its stage. A report that reads the presets of agents names
 * their services without using them.
 */
function usedService({ stage, context }: Point, named: string[]): string | undefined {
  const { source, problems, services } = context;
  const report = (code: string, message: string, help: string) =>
    problems.push({ code, message, place: source.place(["stages", stage.name], "key"), help });
  const written = servicesNamed(stage.spec as Json);
  const used = named.filter((name) => services.get(name)?.includes(stage.name));
  for (const name of named) {
    const users = services.get(name);
    if (users === undefined)
      report(
        "unknown-service",
        `"${stage.name}" names {services.${name}.url}, and no service has this name`,
        services.size === 0
          ? `declare it: ${name}: { service: { for: [${stage.name}] }, command: … --port {port} }`
          : didYouMean(name, [...services.keys()]),
      );
    else if (!users.includes(stage.name) && (stage.durable || written.includes(name)))
      report(
        "unknown-service",
        `"${stage.name}" names {services.${name}.url}, and the service "${name}" is not for it`,
        `write in "${name}": service: { for: [${[...users, stage.name].join(", ")}] }`,
      );
  }
  if (used.length > 1)
    report(
      "two-services",
      `an instance of "${stage.name}" uses the services ${used.join(" and ")}`,
      "an instance uses one service at most; one server may serve several models",
    );
  return used[0];
}

/** Keeps `{inputs.x}` and `{outputs.x}` as placeholders: only the executor knows the paths, and keys must not hold them. */
function pathPlaceholder(stage: PlannedStage, key: string): string | undefined {
  if (key === "port" && stage.spec.service) return "\u0001{port}";
  const service = addressPlaceholder(key);
  if (service !== undefined) return service;
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

/** The names that a command can use for its inputs: their own names and `stage.output`. */
function inputNames(stage: PlannedStage): string[] {
  const names = stage.needs.flatMap((need) => [need.name, `${need.stage}.${need.output}`]);
  return stage.collect.length > 0 ? [...names, "manifest"] : names;
}
