// The format of agent presets, runners/agents/presets/NAME.yaml.
import { isTable } from "../is-table.ts";
import * as t from "../schema.ts";

const variable = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  patternErrorMessage: "a variable's name",
} as const;
const address = {
  type: "string",
  pattern: "^(https?://|\\{services\\.[a-z][a-zA-Z0-9-]*\\.url\\})",
  patternErrorMessage: "http://, https:// or {services.NAME.url}",
} as const;
const provider = {
  type: "string",
  pattern: "^[a-zA-Z0-9][a-zA-Z0-9._-]*$",
  patternErrorMessage: "letters, digits and . _ -, no sign first",
} as const;
const key = t.about(variable, "the entry of `secrets` that holds its key; leave out for a local endpoint");
const free = t.about(t.flag, "whether calls are free, e.g. at your own endpoint");

const gatewayProvider = t.closedObject(
  {
    provider: t.about(
      provider,
      "openai, anthropic, google, or any name with a baseUrl; the first part of its address in the sandbox",
    ),
    protocol: t.about(
      t.oneOf("openai", "anthropic", "google"),
      "the protocol of the endpoint; by default that of the provider, else openai",
    ),
    baseUrl: t.about(address, "with its version, e.g. http://127.0.0.1:8000/v1"),
    key,
    ids: t.about(
      { ...t.list, minItems: 1, uniqueItems: true },
      "the models that it may use; PREFIX* allows all names with this prefix",
    ),
    free,
  },
  ["provider", "ids"],
);

const modelFields = {
  id: t.about(t.text, "the provider's name for the model, with its date if it has one"),
  baseUrl: t.about(
    address,
    "an endpoint that speaks OpenAI's chat completions, or the provider's own protocol",
  ),
  key,
  contextTokens: t.about(
    { type: "integer", minimum: 1000 },
    "limit for request and answer together; requests are cut to fit",
  ),
  maxOutputTokens: t.about(t.positiveInteger, "limit for one answer"),
  temperature: t.about(
    { type: "number", minimum: 0, maximum: 2 },
    "by default the provider's; some models refuse one",
  ),
  free,
  family: t.about(
    t.text,
    "its family, e.g. gpt, where its id does not tell: no judge may be of an agent's family",
  ),
  options: t.about(t.jsonObject, "passed to the provider unchanged"),
} as const;

const model = t.about(
  t.closedObject(modelFields, ["contextTokens"]),
  "llm: the model; without an id, each run chooses it: --set model=PROVIDER/ID",
);

const plannerSpec = {
  ...modelFields,
  provider: t.about(provider, "the provider of the planner"),
} as const;
const planner = t.about(
  t.closedObject(plannerSpec, ["provider", "id", "contextTokens"]),
  "llm, scaffold mlrb-2024: the model that writes the plan; without it, the model itself does",
);

const scaffold = { enum: ["react", "supervisor-worker", "mlrb-2024"] } as const;
const tools = { ...t.list, minItems: 1, uniqueItems: true } as const;
/** The tools of scaffolds that a preset may choose. */
const toolNames = [
  "shell",
  "python",
  "view_file",
  "edit_file",
  "write_file",
  "fetch_url",
  "note",
  "iteration",
] as const;
const turnsMax = t.positiveInteger;
/**
 * Model calls of an attempt whose preset sets no limit. A day of work takes hundreds; a model that answers at once
 * and never ends would fill the trajectory.
 */
export const turnsMaxDefault = 5_000;

const member = t.closedObject(
  {
    name: t.about(t.name, "its name in the trajectory, in messages and in tables; not all, nor shared"),
    agent: t.about(t.text, "its preset, of kind command or llm"),
    role: t.about(t.text, "what it reads after the prompt"),
    after: t.about(
      { ...t.list, minItems: 1, uniqueItems: true },
      "the members that it waits for: each has ended, or has sent a message of purpose hand-over",
    ),
    preset: t.about(
      t.jsonObject,
      "the fields of its preset that shape what it does: written when the preset is loaded, never in a file",
    ),
  },
  ["name", "agent"],
);

const team = t.about(
  t.closedObject(
    {
      members: { type: "array", items: member, minItems: 2, maxItems: 8 },
      workspace: t.about(
        t.oneOf("shared", "own"),
        "own: each member has workspace/NAME, and all have workspace/shared; the submission is one. By default shared",
      ),
      resources: t.about(
        t.oneOf("shared", "divided"),
        "divided: each member has an equal part of the attempt's CPUs, memory and GPUs. By default shared",
      ),
    },
    ["members"],
  ),
  "team: the agents that work together on one submission, within one budget",
);

export const agentPreset = t.fileFormat(
  "mlrb agent preset",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      name: t.about(t.name, "the name of its file, and of the agent in tables and commands"),
      title: t.title,
      kind: t.about(
        t.oneOf("command", "llm", "team", "person", "replay", "nop"),
        "command: a program; llm: a model with tools; team: several of these; person: a shell for a person; replay: a recorded attempt; nop: submits nothing",
      ),
      command: t.about({ ...t.list, minItems: 1 }, "command, person: the program and its arguments"),
      program: t.about(t.text, "command: a Python file of this repository that is the agent"),
      library: t.about(
        t.text,
        "a folder of this repository that its program finds next to itself, as library",
      ),
      gateway: t.about(
        { type: "array", items: gatewayProvider, minItems: 1 },
        "command: the models that its program reaches without a key or network access",
      ),
      trusted: t.about(t.flag, "whether a person has reviewed it, so that it may run without a sandbox"),
      image: t.about(
        t.text,
        "the image of its containers: a Dockerfile, name@sha256:…, or host (the default)",
      ),
      seeded: t.about(
        t.flag,
        "whether all its randomness comes from the seed, so that attempts with equal seeds are pairs",
      ),
      environment: t.about(t.text, "the lock file of its Python"),
      scaffoldVersion: t.about(
        t.positiveInteger,
        "version of the harness around the agent; raised when that changes",
      ),
      provider: t.about(
        provider,
        "the provider of its models: openai, anthropic, google, azure, bedrock, or any name with a baseUrl",
      ),
      model,
      planner,
      scaffold: t.about(scaffold, "llm: the loop around the model"),
      tools: t.about(
        { ...tools, items: { enum: toolNames } },
        "llm: the names of its tools; by default all that the network allows",
      ),
      turnsMax: t.about(turnsMax, "llm: maximum number of model calls"),
      secrets: t.about(
        { type: "array", items: variable, uniqueItems: true },
        "environment variables with keys; passed to its supervisor, not to its sandbox",
      ),
      recording: t.about(t.text, "replay: the folder of a recorded attempt, or of authored recordings"),
      liveTools: t.about(
        t.flag,
        "replay: whether its tools run again; by default their results are recorded",
      ),
      team,
      consent: t.about(t.text, "person: the file of this repository with the text to which a person agrees"),
      pauseHours: t.about(
        t.amount,
        "person: hours of pauses in one attempt, in which the clock and everything inside stop; by default none",
      ),
    },
    ["formatVersion", "name", "title", "kind"],
  ),
);

export type AgentPreset = t.TypeOf<typeof agentPreset>;

/** The part of an llm agent's preset at the start of its trajectory. A later version may add fields. */
export const llmSpecs = {
  model: t.openObject(plannerSpec, ["id", "contextTokens", "provider"]),
  scaffold: t.openObject(
    {
      kind: scaffold,
      tools,
      turnsMax,
      planner: t.openObject(plannerSpec, ["id", "contextTokens", "provider"]),
    },
    ["kind"],
  ),
} as const;
export type ModelSpec = t.TypeOf<typeof llmSpecs.model>;
export type ScaffoldSpec = t.TypeOf<typeof llmSpecs.scaffold>;

/** Fields about display, place and pairing. All others shape what the agent does. */
const besideBehaviour = ["formatVersion", "name", "title", "image", "seeded", "environment"];
/** Fields of a later version: absent where a preset does not set them, so that earlier attempts stay as they are. */
const addedLater = ["team", "consent", "pauseHours"];

/** Every field that shapes what the agent of `preset` does, null where the preset does not set it. */
export function presetOfAttempt(preset: AgentPreset): Record<string, t.Json> {
  return Object.fromEntries(
    (Object.keys(agentPreset.properties) as (keyof AgentPreset)[])
      .filter(
        (field) =>
          !besideBehaviour.includes(field) && (preset[field] !== undefined || !addedLater.includes(field)),
      )
      .map((field) => [field, (preset[field] as t.Json | undefined) ?? null]),
  );
}

type Providing = Pick<AgentPreset, "provider" | "planner" | "gateway" | "team">;

/** The providers that its models are called at, each once. */
export function presetProviders({ provider, planner, gateway = [], team }: Providing): string[] {
  const own = [provider, planner?.provider, ...gateway.map((one) => one.provider)];
  const ofMembers = team?.members.flatMap(({ preset }) => presetProviders((preset ?? {}) as Providing)) ?? [];
  return [...new Set([...own.filter((one) => one !== undefined), ...ofMembers])];
}

/** The presets of those who act in an attempt, by the params of its stage: the members of a team, else the agent. */
export function actingPresets(params: Record<string, t.Json>): Record<string, t.Json>[] {
  const fields = attemptFields(params);
  const { kind, team } = fields;
  if (kind !== "team" || !isTable(team) || !Array.isArray(team.members)) return [fields];
  return team.members.flatMap((member) => (isTable(member) && isTable(member.preset) ? [member.preset] : []));
}

/**
 * The params of an attempt stage, with each field of its `preset` under its own name. Attempt keys hold them in
 * this form, from when each was a separate parameter, and reasons name the field that changed.
 */
export function attemptFields(params: Record<string, t.Json>): Record<string, t.Json> {
  const { preset, ...others } = { ...params };
  // a user's own durable stage may have another table of this name
  const isPreset = isTable(preset) && typeof preset.kind === "string";
  return isPreset ? { ...preset, ...others } : { ...params };
}
