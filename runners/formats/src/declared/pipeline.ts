// The format of pipelines, pipelines/NAME.yaml. It says shapes; names, units and edges are checked after it, where
// a message can say more than a schema can.
import {
  anyText,
  closedObject,
  count,
  eitherType,
  fileFormat,
  flag,
  json,
  list,
  listOf,
  oneOf,
  orNull,
  partialObject,
  type TypeOf,
  tableOf,
  text,
} from "../schema.ts";

const name = { type: "string", pattern: "^[a-z][a-zA-Z0-9-]*$" } as const;
const variable = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  description: "an environment variable",
  patternErrorMessage: "letters, digits and _, not a digit first",
} as const;
const role = { type: "string", pattern: "^[a-z][a-z0-9-]*$" } as const;
const scalar = { type: ["string", "integer"] } as const;
const names = { ...list, uniqueItems: true } as const;
const duration = { ...text, format: "duration" } as const;
const size = { ...text, format: "size" } as const;

function table<const Value>(values: Value, description: string) {
  return { ...tableOf(values), propertyNames: name, description } as const;
}

const axis = eitherType(
  { ...listOf(scalar), minItems: 1, uniqueItems: true },
  closedObject(
    {
      of: { ...text, description: "the axis whose manifests list the values" },
      field: {
        ...text,
        description:
          "where they are listed, e.g. scorers.{params.data}; by default under the axis' name with an s",
      },
    },
    ["of"],
  ),
);
const axes = table(axis, "Named lists that stages fan out over.");

const params = table(json, "The stage's parameters: JSON values; text may hold {placeholders}.");

const pools = {
  type: "object",
  propertyNames: {
    type: "string",
    pattern: "^[A-Za-z0-9][A-Za-z0-9:._/-]*\\*?$",
    description: "a pool",
    patternErrorMessage: "letters, digits and : . _ - /, no sign first, a * at the end",
  },
  additionalProperties: { type: "integer", minimum: 1 },
  description:
    'How much there is of what is no hardware, e.g. calls at once: { "api:openai": 4, "api:*": 2 }; PREFIX* is a pool for each name that begins so.',
} as const;

const output = eitherType(
  anyText,
  partialObject({
    file: {
      type: ["boolean", "string"],
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      patternErrorMessage: "a file's name: letters, digits, dots and dashes, no folder",
    },
    dir: { const: true },
    private: flag,
  }),
);

const network = oneOf("none", "full");
const execution = {
  executor: { ...text, description: "Where it runs: local or docker; of what is untrusted, its sandbox." },
  image: {
    ...text,
    description:
      "Of its containers: a Dockerfile, name@sha256:…, or host, which shows this host's own programs; in the action key.",
  },
  network: { ...network, description: "What its processes may reach; outside the action key." },
  resources: {
    ...partialObject({
      cpus: { type: "number", exclusiveMinimum: 0 },
      memory: { ...size, description: "With a unit, e.g. 64GiB." },
      gpus: count,
      pools: {
        ...tableOf(count),
        description: 'What it takes of pools, e.g. { "api:{agent.provider}": 1 }.',
      },
    }),
    description: "What it holds while it runs; outside the action key.",
  },
  limits: {
    ...partialObject({
      time: {
        ...orNull(duration),
        description:
          "Until its processes have ended, with a unit, e.g. 24h. Taking its outputs in comes after it. null: none.",
      },
      memory: { ...size, description: "Of its whole process tree, e.g. 8GiB." },
      processes: {
        type: "integer",
        minimum: 1,
        description: "How many an untrusted program may have at once, threads counted.",
      },
      disk: { ...size, description: "What an untrusted program may write, e.g. 100GiB." },
      providerWait: {
        ...duration,
        description: "How long an attempt waits without any answer of its provider (default: 1h).",
      },
      operatorWait: {
        ...duration,
        description: "How long an attempt waits for a person: a key, a quota, a model's name (default: 72h).",
      },
    }),
    description: "Where it is stopped as failed; outside the action key.",
  },
} as const;

export const stageSpec = {
  ...partialObject({
    title: text,
    like: { ...text, description: "A stage whose settings it has, but for those that it writes itself." },
    role: {
      ...role,
      description:
        "What its results are to stages that collect them, e.g. score or verdict; outside the action key.",
    },
    each: { ...names, description: "The axes it fans out over." },
    keyed: { ...names, description: "The axes it can see; by default all of each." },
    script: { ...text, description: "A TypeScript file, run by Node." },
    python: { ...text, description: "A Python file, run in the stage's environment." },
    command: eitherType(text, { ...listOf(anyText), minItems: 1 }),
    needs: {
      ...eitherType(names, { ...tableOf(text), propertyNames: name }),
      description: "Artifacts it reads, as stage.output; a table gives them other names.",
    },
    collect: {
      ...names,
      description:
        "Artifacts it gathers over the axes it lacks, whatever became of them; digest(stage.output) where its digest will do.",
    },
    roles: {
      ...names,
      items: role,
      description: "The roles that it needs among what it collects, each of one stage.",
    },
    gives: table(output, "Its outputs: file, dir, or a table with private."),
    params,
    files: { ...names, description: "Files it reads or starts besides its script; patterns allowed." },
    env: {
      ...tableOf(scalar),
      propertyNames: variable,
      description: "Environment variables; part of the action key.",
    },
    secrets: {
      anyOf: [
        { ...names, items: variable },
        {
          type: "string",
          pattern: "^\\{[a-z][\\w.-]*\\}$",
          patternErrorMessage: "a field, e.g. {agent.secrets}",
        },
      ],
      description:
        "Environment variables passed on, never keyed, logged or printed. May be a field that lists them.",
    },
    retries: {
      type: "integer",
      minimum: 0,
      maximum: 10,
      description: "How often it is tried again when the machine failed it; its own failures are not.",
    },
    environment: { ...text, description: "A Python lock file." },
    programs: {
      type: ["boolean", "string"],
      description:
        "Whether its script may start programs or load native code; outside the action key. May be a field that says so: {scorer.programs}.",
    },
    budget: {
      ...partialObject({
        time: duration,
        tokens: { type: ["integer", "string"], minimum: 1, description: "Of all model calls, in and out." },
        dollars: { type: ["number", "string"], exclusiveMinimum: 0, description: "Of all model calls." },
      }),
      description: "What shapes the result; in the key.",
    },
    durable: { ...flag, description: "Its results are records, not cache." },
    untrusted: { ...flag, description: "Runs foreign code: may need public artifacts only." },
    hostSensitive: {
      type: ["boolean", "string"],
      description: "Its results depend on the machine. May be a field that says so: {scorer.hostSensitive}.",
    },
    releases: { ...names, description: "Outputs that are public although it needed private ones." },
    ...execution,
  }),
  description: "A step: what it runs, what it needs and what it gives.",
} as const;

const profile = partialObject({
  default: flag,
  title: text,
  extends: text,
  onStale: {
    ...oneOf("leave", "rerun"),
    description: "What becomes of a stale attempt; left by default.",
  },
  axes,
  params,
  pools,
  stages: tableOf(partialObject(execution)),
  ...execution,
});

const properties = {
  formatVersion: { const: 1 },
  name,
  title: text,
  extends: {
    ...text,
    description:
      "A pipeline in YAML beside this one, by name. Its axes, parameters, pools, profiles and stages are this one's, but for those of the same name here.",
  },
  axes,
  params,
  pools,
  defaults: {
    ...partialObject(execution),
    description: "How every stage is carried out that does not say otherwise.",
  },
  profiles: table(profile, "Named sets of overrides."),
  stages: { ...table(stageSpec, "The steps, by name."), minProperties: 1 },
} as const;

/** A pipeline with all that it takes over from others. */
export const pipelineSpec = closedObject(properties, ["formatVersion", "name", "stages"]);

/** A pipeline as it is written. */
export const pipelineFile = fileFormat("mlrb pipeline", {
  ...closedObject(properties, ["formatVersion", "name"]),
  anyOf: [{ required: ["stages"] }, { required: ["extends"] }],
});

// before anything in them is looked up
export type PipelineSpec = TypeOf<typeof pipelineSpec>;
export type ProfileSpec = TypeOf<typeof profile>;
export type StageSpec = TypeOf<typeof stageSpec>;
export type GivesSpec = TypeOf<typeof output>;
/**
 * A list of values, or the values that another axis' manifest lists (`{ of: task }`), under the axis' name
 * with an s or where `field` says; it may name parameters: `scorers.{params.data}`.
 */
export type AxisSpec = TypeOf<typeof axis>;
export type Scalar = TypeOf<typeof scalar>;
export type PoolsSpec = TypeOf<typeof pools>;
/** What a profile or a stage may set about where and how far a stage runs; `image` alone is in action keys. */
export type ExecutionSpec = Pick<StageSpec, keyof typeof execution>;
export type ResourcesSpec = NonNullable<ExecutionSpec["resources"]>;
/** What a stage's processes may reach: nothing but the machine itself, or everything. */
export type Network = TypeOf<typeof network>;
