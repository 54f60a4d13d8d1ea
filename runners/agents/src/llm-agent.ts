// An llm agent from the fields of its preset. The runner has checked their shapes; a step that is run by hand has
// not, so what is missing is said here too.
import { textRedactor } from "@mlrb/core/redactor";
import type { Json } from "@mlrb/kit/stage";
import type { LlmAgent } from "./attempt-request.ts";
import type { ModelSpec } from "./model/model-client.ts";
import type { ScaffoldSpec } from "./scaffold/scaffold.ts";

/** `given` gives a field, null where there is none. Throws with what to write. */
export function llmAgent(given: (field: string) => Json, env: NodeJS.ProcessEnv = process.env): LlmAgent {
  const [provider, model, scaffold] = [given("provider"), given("model"), given("scaffold") ?? "react"];
  if (typeof provider !== "string")
    throw new Error("an agent of kind llm needs `provider: NAME` in its preset");
  if (!isTable(model) || typeof model.id !== "string" || typeof model.contextTokens !== "number")
    throw new Error("an agent of kind llm needs `model: { id, contextTokens }` in its preset");
  if (scaffold !== "react" && scaffold !== "supervisor-worker")
    throw new Error(`there is no scaffold ${JSON.stringify(scaffold)}; write react or supervisor-worker`);
  const { key, ...rest } = model as unknown as Omit<ModelSpec, "provider">;
  const secret = key === undefined ? undefined : env[key];
  if (key !== undefined && !secret)
    throw new Error(
      `${key} is not set: it holds the key for ${provider}; export it where you run, and list it in the preset's \`secrets\``,
    );
  const [tools, turnsMax] = [given("tools"), given("turnsMax")];
  return {
    model: { ...rest, provider, ...(key !== undefined && { key }) },
    scaffold: {
      kind: scaffold as ScaffoldSpec["kind"],
      ...(Array.isArray(tools) && { tools: tools.map(String) }),
      ...(typeof turnsMax === "number" && { turnsMax }),
    },
    ...(secret !== undefined && { key: secret }),
  };
}

export type SecretRedactor = {
  /** Takes the values of the secrets out of a text, as far as they are set: also those that were replaced since. */
  redact(text: string): string;
  add(values: Record<string, string>): void;
};

/** `names` lists variables. */
export function secretRedactor(names: Json, env: NodeJS.ProcessEnv = process.env): SecretRedactor {
  const listed = Array.isArray(names) ? names.map(String) : [];
  const values = Object.fromEntries(listed.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const redactors = [textRedactor(values)];
  return {
    redact: (text) => redactors.reduce((rest, redact) => redact(rest), text),
    add: (more) => void redactors.push(textRedactor(more)),
  };
}

function isTable(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
