// The JSON Schema of a pipeline file. Published as pipelines/pipeline.schema.json (a test keeps the two
// equal) so that editors complete and check what is written. It says shapes; names, units and edges
// are checked after it, where the message can say more than a schema can.

const text = { type: "string", minLength: 1 } as const;
const name = { type: "string", pattern: "^[a-z][a-zA-Z0-9-]*$" } as const;
const variable = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  description: "an environment variable",
  patternErrorMessage: "letters, digits and _, not a digit first",
} as const;
const scalar = { type: ["string", "integer"] } as const;
const names = { type: "array", items: text, uniqueItems: true } as const;

const table = (values: object, description: string) =>
  ({ type: "object", propertyNames: name, additionalProperties: values, description }) as const;

const closed = (properties: Record<string, object>, more: object = {}) =>
  ({ type: "object", additionalProperties: false, properties, ...more }) as const;

const axes = table(
  {
    type: ["array", "object"],
    items: scalar,
    minItems: 1,
    uniqueItems: true,
    additionalProperties: false,
    properties: {
      of: { ...text, description: "the axis whose manifests list the values" },
      field: {
        ...text,
        description:
          "where they are listed, e.g. scorers.{params.data}; by default under the axis' name with an s",
      },
    },
    required: ["of"],
  },
  "Named lists that stages fan out over.",
);

const params = table({}, "The stage's parameters: JSON values; text may hold {placeholders}.");

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

const execution = {
  executor: { ...text, description: "Where it runs: local or docker; of what is untrusted, its sandbox." },
  image: {
    ...text,
    description:
      "Of its containers: a Dockerfile, name@sha256:…, or host, which shows this host's own programs; in the action key.",
  },
  network: {
    enum: ["none", "full"],
    description: "What its processes may reach; outside the action key.",
  },
  resources: closed(
    {
      cpus: { type: "number", exclusiveMinimum: 0 },
      memory: { ...text, format: "size", description: "With a unit, e.g. 64GiB." },
      gpus: { type: "integer", minimum: 0 },
      pools: {
        type: "object",
        additionalProperties: { type: "integer", minimum: 0 },
        description: 'What it takes of pools, e.g. { "api:{agent.provider}": 1 }.',
      },
    },
    { description: "What it holds while it runs; outside the action key." },
  ),
  limits: closed(
    {
      time: {
        ...text,
        format: "duration",
        description:
          "Until its processes have ended, with a unit, e.g. 24h. Taking its outputs in comes after it.",
      },
      memory: { ...text, format: "size", description: "Of its whole process tree, e.g. 8GiB." },
      processes: {
        type: "integer",
        minimum: 1,
        description: "How many an untrusted program may have at once, threads counted.",
      },
      disk: { ...text, format: "size", description: "What an untrusted program may write, e.g. 100GiB." },
      providerWait: {
        ...text,
        format: "duration",
        description: "How long an attempt waits without any answer of its provider (default: 1h).",
      },
      operatorWait: {
        ...text,
        format: "duration",
        description: "How long an attempt waits for a person: a key, a quota, a model's name (default: 72h).",
      },
    },
    { description: "Where it is stopped as failed; outside the action key." },
  ),
};

export const stageSchema = closed(
  {
    title: text,
    each: { ...names, description: "The axes it fans out over." },
    keyed: { ...names, description: "The axes it can see; by default all of each." },
    script: { ...text, description: "A TypeScript file, run by Node." },
    python: { ...text, description: "A Python file, run in the stage's environment." },
    command: { type: ["string", "array"], items: { type: "string" }, minItems: 1, minLength: 1 },
    needs: {
      type: ["array", "object"],
      items: text,
      uniqueItems: true,
      propertyNames: name,
      additionalProperties: text,
      description: "Artifacts it reads, as stage.output; a table gives them other names.",
    },
    collect: {
      ...names,
      description:
        "Artifacts it gathers over the axes it lacks, whatever became of them; digest(stage.output) where its digest will do.",
    },
    gives: table(
      {
        type: ["string", "object"],
        additionalProperties: false,
        properties: {
          file: {
            type: ["boolean", "string"],
            pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
            patternErrorMessage: "a file's name: letters, digits, dots and dashes, no folder",
          },
          dir: { const: true },
          private: { type: "boolean" },
        },
      },
      "Its outputs: file, dir, or a table with private.",
    ),
    params,
    files: { ...names, description: "Files it reads or starts besides its script; patterns allowed." },
    env: {
      type: "object",
      propertyNames: variable,
      additionalProperties: scalar,
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
    budget: closed(
      {
        time: { ...text, format: "duration" },
        tokens: { type: ["integer", "string"], minimum: 1, description: "Of all model calls, in and out." },
        dollars: { type: ["number", "string"], exclusiveMinimum: 0, description: "Of all model calls." },
      },
      { description: "What shapes the result; in the key." },
    ),
    durable: { type: "boolean", description: "Its results are records, not cache." },
    untrusted: { type: "boolean", description: "Runs foreign code: may need public artifacts only." },
    hostSensitive: {
      type: ["boolean", "string"],
      description: "Its results depend on the machine. May be a field that says so: {scorer.hostSensitive}.",
    },
    releases: { ...names, description: "Outputs that are public although it needed private ones." },
    ...execution,
  },
  { description: "A step: what it runs, what it needs and what it gives." },
);
export const pipelineSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "mlrb pipeline",
  ...closed(
    {
      formatVersion: { const: 1 },
      name,
      title: text,
      axes,
      params,
      pools,
      profiles: table(
        closed({
          default: { type: "boolean" },
          title: text,
          extends: text,
          onStale: {
            enum: ["leave", "rerun"],
            description: "What becomes of a stale attempt; left by default.",
          },
          axes,
          params,
          pools,
          stages: { type: "object", additionalProperties: closed(execution) },
          ...execution,
        }),
        "Named sets of overrides.",
      ),
      stages: { ...table(stageSchema, "The steps, by name."), minProperties: 1 },
    },
    { required: ["formatVersion", "name", "stages"] },
  ),
};
