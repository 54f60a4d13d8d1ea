// An llm agent from its preset, with its key. Checks the fields that only llm agents need.
import { textRedactor } from "@mlrb/core/ports/redactor";
import type { AttemptParams } from "./attempt-params.ts";

export type LlmAgent = ReturnType<typeof llmAgent>;

/** Throws with the field to write. */
export function llmAgent(preset: AttemptParams, env: NodeJS.ProcessEnv = process.env) {
  const { provider, model, scaffold = "react", tools, turnsMax, planner } = preset;
  if (provider === undefined) throw new Error("an agent of kind llm needs `provider: NAME` in its preset");
  if (model?.id === undefined)
    throw new Error("an agent of kind llm needs `model: { id, contextTokens }` in its preset");
  const { key, id } = model;
  if (planner !== undefined && scaffold !== "mlrb-2024")
    throw new Error(`the scaffold ${scaffold} has no planner; remove \`planner\` from the preset`);
  const secret = secretOf({ provider, key }, env);
  const plannerKey = planner && secretOf(planner, env);
  return {
    model: { ...model, provider, id },
    scaffold: {
      kind: scaffold,
      ...(tools && { tools }),
      ...(turnsMax !== undefined && { turnsMax }),
      ...(planner && { planner }),
    },
    /** Of the model's provider. A person may replace it while the attempt waits. */
    ...(secret !== undefined && { key: secret }),
    ...(plannerKey !== undefined && { plannerKey }),
  };
}

/** Throws if the variable is not set. */
export function secretOf(
  { provider, key }: { provider: string; key?: string | undefined },
  env: NodeJS.ProcessEnv,
): string | undefined {
  const secret = key === undefined ? undefined : env[key];
  if (key !== undefined && !secret)
    throw new Error(
      `${key} is not set: it holds the key for ${provider}; export it where you run, and list it in the preset's \`secrets\``,
    );
  return secret;
}

export type SecretRedactor = ReturnType<typeof secretRedactor>;

/** `names` are variables. */
export function secretRedactor(names: string[], env: NodeJS.ProcessEnv = process.env) {
  const values = Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const redactors = [textRedactor(values)];
  return {
    /** Removes the values of secrets from a text, including values that were replaced since. */
    redact: (text: string) => redactors.reduce((rest, redact) => redact(rest), text),
    add: (more: Record<string, string>) => void redactors.push(textRedactor(more)),
  };
}
