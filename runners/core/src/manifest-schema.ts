// Schemas of the folders that people add: tasks, scorers, agent presets. Published beside the
// pipeline's schema; the types that scripts see stand in @mlrb/kit/manifests.

const text = { type: "string", minLength: 1 } as const;
const name = { type: "string", pattern: "^[a-z][a-z0-9-]*$" } as const;
const list = { type: "array", items: text } as const;
const duration = { ...text, format: "duration" } as const;
const kind = { ...name, description: "a kind of data" } as const;

/** One value for each kind of data that a pipeline can ask for, e.g. smoke and official. */
const byKind = (value: object, description: string) => ({
  type: "object",
  propertyNames: kind,
  additionalProperties: value,
  minProperties: 1,
  description: `for each kind of data: ${description}`,
});

const closed = (properties: Record<string, object>, required: string[]) => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  additionalProperties: false,
  properties,
  required,
});

const published = {
  type: "object",
  additionalProperties: false,
  properties: {
    who: { ...text, description: "whose agent or model" },
    value: { type: "number" },
    n: {
      type: "integer",
      minimum: 1,
      description: "runs that it is of; left out where the source gives none",
    },
    note: { ...text, description: "what it is of those runs, e.g. the best one" },
    source: text,
  },
  required: ["who", "value", "source"],
};

const rule = {
  type: "object",
  additionalProperties: false,
  properties: {
    name,
    title: text,
    method: text,
    with: { type: "object" },
    on: {
      type: "array",
      items: kind,
      minItems: 1,
      uniqueItems: true,
      description: "the kinds of data that it holds for; all where it says none",
    },
    source: { enum: ["official", "competition", "interpreted"] },
    severity: { enum: ["strike", "note"] },
  },
  required: ["name", "title", "method", "source", "severity"],
};

const anchor = {
  type: "object",
  additionalProperties: false,
  properties: { name, title: text, model: text },
  required: ["name", "title", "model"],
};

export const taskSchema = {
  title: "mlrb task",
  ...closed(
    {
      formatVersion: { const: 1 },
      name,
      officialName: text,
      title: text,
      submission: text,
      scorers: byKind({ ...list, minItems: 1, uniqueItems: true }, "the scorers, { KIND: [NAME, …] }"),
      primary: byKind(text, "the scorer that decides, { KIND: NAME }"),
      environment: text,
      models: {
        ...text,
        description: "the script that makes the models given beside the data, in folders by name",
      },
      generate: {
        ...text,
        description: "the script that has a submission write what its scorers judge, once for all of them",
      },
      budget: byKind(
        {
          type: "object",
          additionalProperties: false,
          properties: { time: duration },
          required: ["time"],
        },
        "what an agent may spend",
      ),
      floors: byKind(
        {
          type: "object",
          additionalProperties: { type: ["number", "string"], minLength: 1 },
          description: "by scorer: a number or the name of an anchors row, { NAME: 0.5 }",
        },
        "what no skill reaches, { KIND: { NAME: 0.5 } }",
      ),
      anchors: byKind(
        { type: "array", items: anchor },
        "models that nobody trained for the task, measured beside its attempts",
      ),
      anchorRows: byKind(
        {
          type: "object",
          additionalProperties: text,
          description: "by scorer: the name of an anchors row, { NAME: ROW }",
        },
        "the anchors row that is 1 where the floor is 0, { KIND: { NAME: ROW } }",
      ),
      published: byKind(
        {
          type: "object",
          additionalProperties: { type: "array", items: published, minItems: 1 },
          description: "by scorer: what others published, { NAME: [{ who, value, n, source }] }",
        },
        "what others published on this data, { KIND: { NAME: [{ who, value, n, source }] } }",
      ),
      sources: { type: "object" },
      rules: { type: "array", items: rule },
      limits: list,
    },
    ["formatVersion", "name", "title", "submission", "scorers", "primary", "budget", "floors", "rules"],
  ),
};

const gatewayProvider = {
  type: "object",
  additionalProperties: false,
  properties: {
    provider: {
      type: "string",
      pattern: "^[a-zA-Z0-9][a-zA-Z0-9._-]*$",
      patternErrorMessage: "letters, digits and . _ -, no sign first",
      description:
        "openai, anthropic, google, or any name with a baseUrl; the first part of its address inside",
    },
    protocol: {
      enum: ["openai", "anthropic", "google"],
      description: "whose protocol it speaks; openai where it is not one of the three itself",
    },
    baseUrl: {
      type: "string",
      pattern: "^https?://",
      patternErrorMessage: "http:// or https://",
      description: "with its version, e.g. http://127.0.0.1:8000/v1",
    },
    key: {
      type: "string",
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      patternErrorMessage: "a variable's name",
      description: "which of `secrets` holds its key; none for a local endpoint",
    },
    ids: {
      ...list,
      minItems: 1,
      uniqueItems: true,
      description: "the models that it may use; a name that ends in * is all that begin so",
    },
    free: { type: "boolean", description: "whether calls cost nothing, e.g. at an endpoint of one's own" },
  },
  required: ["provider", "ids"],
};

export const scorerSchema = {
  title: "mlrb scorer",
  ...closed(
    {
      formatVersion: { const: 1 },
      name,
      title: text,
      version: { type: "integer", minimum: 1 },
      unit: text,
      direction: { enum: ["higher", "lower"] },
      range: {
        type: "array",
        items: [{ type: "number" }, { type: ["number", "null"] }],
        minItems: 2,
        maxItems: 2,
        additionalItems: false,
        description: "the least and the most that it can be, null for no most: [0, 1]",
      },
      environment: text,
      hostSensitive: { type: "boolean" },
      command: {
        ...text,
        description: "a program outside the environment that it starts, as written in a shell",
      },
      digits: { type: "integer", minimum: 0, maximum: 6 },
    },
    ["formatVersion", "name", "title", "version", "unit", "direction", "digits"],
  ),
};

const model = {
  type: "object",
  additionalProperties: false,
  properties: {
    id: { ...text, description: "as the provider calls it, with its date where it has one" },
    baseUrl: {
      type: "string",
      pattern: "^https?://",
      patternErrorMessage: "http:// or https://",
      description: "an endpoint that speaks OpenAI's chat completions, or the provider's own protocol",
    },
    key: {
      type: "string",
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      patternErrorMessage: "a variable's name",
      description: "which of `secrets` holds its key; none for a local endpoint",
    },
    contextTokens: {
      type: "integer",
      minimum: 1000,
      description: "that request and answer may have together; requests are cut to fit",
    },
    maxOutputTokens: { type: "integer", minimum: 1 },
    temperature: { type: "number", minimum: 0, maximum: 2 },
    free: { type: "boolean", description: "whether calls cost nothing, e.g. at an endpoint of one's own" },
    options: { type: "object", description: "handed to the provider as they are" },
  },
  required: ["id", "contextTokens"],
  description: "llm: the model",
};

export const agentSchema = {
  title: "mlrb agent preset",
  ...closed(
    {
      formatVersion: { const: 1 },
      name,
      title: text,
      kind: { enum: ["command", "llm", "replay", "nop"] },
      command: { ...list, minItems: 1 },
      program: text,
      library: {
        ...text,
        description: "a folder of this repository that its program finds beside itself, as library",
      },
      gateway: {
        type: "array",
        items: gatewayProvider,
        minItems: 1,
        description: "command: the models that its program reaches without a key or a network of its own",
      },
      trusted: {
        type: "boolean",
        description: "whether a person read what it does, so that it may run without a sandbox",
      },
      image: {
        ...text,
        description: "the image of its containers: a Dockerfile, name@sha256:…, or host (the default)",
      },
      seeded: {
        type: "boolean",
        description: "whether all its chance comes from the seed, so that attempts with one seed are pairs",
      },
      environment: text,
      scaffoldVersion: {
        type: "integer",
        minimum: 1,
        description: "of what the harness does around the agent; raised when that changes",
      },
      provider: {
        type: "string",
        pattern: "^[a-zA-Z0-9][a-zA-Z0-9._-]*$",
        patternErrorMessage: "letters, digits and . _ -, no sign first",
        description: "whose models it calls: openai, anthropic, or any name with a baseUrl",
      },
      model,
      scaffold: { enum: ["react", "supervisor-worker"], description: "llm: the loop around the model" },
      tools: {
        ...list,
        minItems: 1,
        uniqueItems: true,
        description: "llm: the names of its tools; all that the network allows where it says none",
      },
      turnsMax: { type: "integer", minimum: 1, description: "llm: model calls in all" },
      secrets: {
        type: "array",
        items: {
          type: "string",
          pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
          patternErrorMessage: "a variable's name",
        },
        uniqueItems: true,
        description: "environment variables with keys; its supervisor gets them, its sandbox does not",
      },
      recording: { ...text, description: "replay: the folder of a recorded attempt" },
    },
    ["formatVersion", "name", "title", "kind"],
  ),
};
