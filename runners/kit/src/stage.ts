// How a stage script learns what it was asked to do. The runner writes one JSON file (the stage's
// context) and names it in MLRB_STAGE; without it the same script runs by hand from flags:
//   node tasks/NAME/data.ts --axis task=NAME --param source=smoke --input public=DIR --output public=DIR
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Json } from "@mlrb/formats/schema";

export type { Json };

export type StageContext = {
  formatVersion: 1;
  /** The stage instance, e.g. `score[task=baby-lm,agent=minimal,seed=1,scorer=house-pairs]`. */
  stage: string;
  /** Axis values that the stage is keyed on; a stage is blind to the others. */
  axes: Record<string, string | number>;
  params: Record<string, Json>;
  /** Absolute path of each input, by its name (`public` for `data.public`). Read only. */
  inputs: Record<string, string>;
  /** Absolute path to write each output to. Folders exist and are empty; files do not exist. */
  outputs: Record<string, string>;
  /** Patterns of the repository files it declared, relative to the root; see source-file. */
  files: string[];
  /** The files that these patterns name, from the root, in order; by hand undefined. */
  sources?: string[];
  /** The budget of the stage in base units, where it declares one: time in ms, tokens and dollars of model calls. */
  budget: { timeMs?: number; tokens?: number; dollars?: number };
  /** How long it may wait for what is not its own doing, where the pipeline says so (`limits`). */
  waits?: { providerMs?: number; operatorMs?: number };
  /** Of an untrusted stage: what is to hold the programs it starts. */
  sandbox?: SandboxAsked;
};

export type SandboxAsked = {
  /** `local`: walls of this host; `docker`: containers. */
  executor: string;
  /** Of containers; undefined for this host's own programs. */
  image?: string;
  network: "none" | "full";
  limits: { memoryBytes: number; processes: number; diskBytes: number; cpus: number };
  /** Host folders that its programs read at their own paths. */
  reads: string[];
  gpus: readonly {
    index: number;
    uuid: string;
    model: string;
    memoryBytes: number;
    driver: string;
    slice: boolean;
  }[];
  /** Whether a person said that programs nobody vouched for may run without walls. */
  unsafe: boolean;
  /** Marks what belongs to it on the host. */
  token: string;
};

/** The context of the running stage. Throws with the missing name when a script asks for what was not given. */
export function stage(argv: string[] = process.argv.slice(2)): StageContext {
  const file = process.env.MLRB_STAGE;
  const context = file ? (JSON.parse(readFileSync(file, "utf8")) as StageContext) : fromFlags(argv);
  if (context.formatVersion !== 1) {
    throw new Error(`${file}: stage context of format ${context.formatVersion}; this kit reads format 1`);
  }
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
    options: { axis: many, param: many, input: many, output: many },
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
    axes: Object.fromEntries(pairs(values.axis).map(([name, value]) => [name, scalar(value)])),
    params: Object.fromEntries(pairs(values.param).map(([name, value]) => [name, scalar(value)])),
    inputs: paths(values.input),
    outputs: paths(values.output),
    files: [],
    budget: {},
  };
}

/** A flag's value as YAML would read it: JSON where it is JSON, else the text itself. */
function scalar(text: string): string | number {
  try {
    return JSON.parse(text) as string | number;
  } catch {
    return text;
  }
}

/** Reading a name that was not declared is a mistake in the script or the pipeline: say which. */
function strict<T>(kind: string, values: Record<string, T>): Record<string, T> {
  return new Proxy(values, {
    get(target, name) {
      if (typeof name === "symbol" || name === "toJSON" || name in target) return target[name as string] as T;
      const known = Object.keys(target).join(", ") || "none";
      throw new Error(`this stage has no ${kind} "${name}" (it has: ${known}); declare it in the pipeline`);
    },
  });
}
