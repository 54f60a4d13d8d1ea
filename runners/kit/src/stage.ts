// Reads the inputs of a stage script. The runner writes one JSON file (the stage's context) and names it in
// MLRB_STAGE. Without it the same script runs by hand from flags:
//   node tasks/NAME/data.ts --axis task=NAME --param source=smoke --input public=DIR --output public=DIR
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { mustFollow } from "@mlrb/formats/read-format";
import type { Json } from "@mlrb/formats/schema";
import { type StageContext, stageContext } from "@mlrb/formats/stage/stage-context";
import { readJson } from "./json-file.ts";
import { parseDuration } from "./parse-duration.ts";

export type { Json };

/** The context of the running stage. Reading an undeclared name throws. */
export function stage(argv: string[] = process.argv.slice(2)): StageContext {
  const file = process.env.MLRB_STAGE;
  const context = file ? mustFollow(stageContext, readJson(file), file) : fromFlags(argv);
  return {
    ...context,
    axes: strict("axis", context.axes),
    params: strict("param", context.params),
    inputs: strict("input", context.inputs),
    outputs: strict("output", context.outputs),
  };
}

function fromFlags(argv: string[]): StageContext {
  const many = { type: "string", multiple: true } as const;
  const { values } = parseArgs({
    args: argv,
    options: { axis: many, param: many, input: many, output: many, budget: many },
  });
  const pairs = (flags: string[] | undefined) =>
    (flags ?? []).map((flag): [string, string] => {
      const at = flag.indexOf("=");
      if (at < 1) throw new Error(`expected NAME=VALUE, got "${flag}"`);
      return [flag.slice(0, at), flag.slice(at + 1)];
    });
  const paths = (flags: string[] | undefined) =>
    Object.fromEntries(pairs(flags).map(([name, path]) => [name, resolve(path)]));
  return {
    formatVersion: 1,
    stage: "by hand",
    axes: Object.fromEntries(pairs(values.axis).map(([name, text]) => [name, axisValue(text)])),
    params: Object.fromEntries(pairs(values.param).map(([name, text]) => [name, flagValue(text)])),
    inputs: paths(values.input),
    outputs: paths(values.output),
    files: [],
    budget: Object.fromEntries(pairs(values.budget).map(([name, value]) => budgetOf(name, value))),
  };
}

/** As in a context: `time=20m` in ms, other amounts as numbers. */
function budgetOf(name: string, value: string): [string, number] {
  const amount = name === "time" ? parseDuration(value) : Number(value);
  if (amount === undefined || !Number.isFinite(amount))
    throw new Error(
      `--budget ${name} is ${value}, not ${name === "time" ? "a duration with a unit such as 10m or 24h" : "a number"}`,
    );
  return [name === "time" ? "timeMs" : name, amount];
}

/** The value of a flag as YAML reads it: JSON if it is JSON, else the text itself. */
function flagValue(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The value of an axis: a number if it is one, else the text itself. */
function axisValue(text: string): string | number {
  const found = flagValue(text);
  return typeof found === "number" ? found : text;
}

/** Reading an undeclared name is a mistake in the script or the pipeline: throws with the name. */
function strict<T>(kind: string, values: Record<string, T>): Record<string, T> {
  return new Proxy(values, {
    get(target, name) {
      if (typeof name === "symbol" || name === "toJSON" || name in target) return target[name as string] as T;
      const known = Object.keys(target).join(", ") || "none";
      throw new Error(`this stage has no ${kind} "${name}" (it has: ${known}); declare it in the pipeline`);
    },
  });
}
