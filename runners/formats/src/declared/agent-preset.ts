// The format of agent presets, runners/agents/presets/NAME.yaml.
import { isTable } from "../is-table.ts";
import {
  closedObject,
  fileFormat,
  type Json,
  jsonObject,
  list,
  name,
  openObject,
  type TypeOf,
  text,
} from "../schema.ts";

const variable = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  patternErrorMessage: "a variable's name",
} as const;
const address = {
  type: "string",
  pattern: "^https?://",
  patternErrorMessage: "http:// or https://",
} as const;
const provider = {
  type: "string",
  pattern: "^[a-zA-Z0-9][a-zA-Z0-9._-]*$",
  patternErrorMessage: "letters, digits and . _ -, no sign first",
} as const;
const free = {
  type: "boolean",
  description: "whether calls cost nothing, e.g. at an endpoint of one's own",
} as const;

const gatewayProvider = closedObject(
  {
    provider: {
      ...provider,
      description:
        "openai, anthropic, google, or any name with a baseUrl; the first part of its address inside",
    },
    protocol: {
      enum: ["openai", "anthropic", "google"],
      description: "whose protocol it speaks; openai where it is not one of the three itself",
    },
    baseUrl: {
      ...address,
      description: "with its version, e.g. http://127.0.0.1:8000/v1",
    },
    key: {
      ...variable,
      description: "which of `secrets` holds its key; none for a local endpoint",
    },
    ids: {
      ...list,
      minItems: 1,
      uniqueItems: true,
      description: "the models that it may use; a name that ends in * is all that begin so",
    },
    free,
  },
  ["provider", "ids"],
);

const model = {
  ...closedObject(
    {
      id: { ...text, description: "as the provider calls it, with its date where it has one" },
      baseUrl: {
        ...address,
        description: "an endpoint that speaks OpenAI's chat completions, or the provider's own protocol",
      },
      key: {
        ...variable,
        description: "which of `secrets` holds its key; none for a local endpoint",
      },
      contextTokens: {
        type: "integer",
        minimum: 1000,
        description: "that request and answer may have together; requests are cut to fit",
      },
      maxOutputTokens: { type: "integer", minimum: 1 },
      temperature: { type: "number", minimum: 0, maximum: 2 },
      free,
      options: { ...jsonObject, description: "handed to the provider as they are" },
    },
    ["id", "contextTokens"],
  ),
  description: "llm: the model",
} as const;

const scaffold = { enum: ["react", "supervisor-worker"] } as const;
const tools = { ...list, minItems: 1, uniqueItems: true } as const;
const turnsMax = { type: "integer", minimum: 1 } as const;

export const agentPreset = fileFormat(
  "mlrb agent preset",
  closedObject(
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
        ...provider,
        description: "whose models it calls: openai, anthropic, or any name with a baseUrl",
      },
      model,
      scaffold: { ...scaffold, description: "llm: the loop around the model" },
      tools: {
        ...tools,
        description: "llm: the names of its tools; all that the network allows where it says none",
      },
      turnsMax: { ...turnsMax, description: "llm: model calls in all" },
      secrets: {
        type: "array",
        items: variable,
        uniqueItems: true,
        description: "environment variables with keys; its supervisor gets them, its sandbox does not",
      },
      recording: { ...text, description: "replay: the folder of a recorded attempt" },
    },
    ["formatVersion", "name", "title", "kind"],
  ),
);

export type AgentPreset = TypeOf<typeof agentPreset>;

/** An llm agent's preset as its trajectory begins with it. A later version may say more. */
export const llmSpecs = {
  model: openObject({ ...model.properties, provider }, ["id", "contextTokens", "provider"]),
  scaffold: openObject({ kind: scaffold, tools, turnsMax }, ["kind"]),
} as const;
export type ModelSpec = TypeOf<typeof llmSpecs.model>;
export type ScaffoldSpec = TypeOf<typeof llmSpecs.scaffold>;

/** The fields that say how a preset is shown, where it runs and what pairs; the others shape what its agent does. */
const besideBehaviour = ["formatVersion", "name", "title", "image", "seeded", "environment"];

/** Every field that shapes what the agent of `preset` does, null where the preset does not set it. */
export function presetOfAttempt(preset: AgentPreset): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(agentPreset.properties)
      .filter((field) => !besideBehaviour.includes(field))
      .map((field) => [field, preset[field as keyof AgentPreset] ?? null]),
  );
}

/**
 * The params of a stage that makes an attempt, each field of its `preset` under its own name. Keys of attempts have them
 * so, from when each was a parameter of its own, and reasons name the field that changed.
 */
export function attemptFields(params: Record<string, Json>): Record<string, Json> {
  const { preset, ...others } = { ...params };
  // a durable stage of one's own may have a table of this name that is none
  const isPreset = isTable(preset) && typeof preset.kind === "string";
  return isPreset ? { ...preset, ...others } : { ...params };
}
