// An agent with another model than its preset names: `--set agent=react --set model=openai/gpt-5.1` is the agent
// `react@openai:gpt-5.1`. Its preset is the file's with the model replaced, so the key of an attempt holds the
// model like that of any preset, and tables have a row for each model. Pure.

import type { AgentPreset } from "@mlrb/formats/declared/agent-preset";
import { isKnownProvider, keyVariables } from "@mlrb/formats/declared/model-providers";

/** In place of a model: the replay runs its tools again. */
export const liveToolsName = "live-tools";

/** A model for help texts, and where any would do. */
export const exampleModel = "openai/gpt-4o-2024-08-06";

type ChosenModel = { provider: string; id: string };

export type AgentName = {
  /** The name of the preset's file. */
  preset: string;
  /** The part after `@`. */
  model?: string;
  /** The part after `+`: other limits, which the pipeline declares. */
  allowance?: string;
};

export type ModelProblem = { message: string; help: string };

export function splitAgentName(name: string): AgentName {
  const [, preset = name, model, allowance] = /^([^@+]*)(?:@([^+]*))?(?:\+(.*))?$/s.exec(name) ?? [];
  return { preset, ...(model !== undefined && { model }), ...(allowance !== undefined && { allowance }) };
}

/** `model`: PROVIDER/ID. An axis value has no slash, so `:` follows the provider, and `~` replaces slashes of the id. */
export function agentWithModel(agent: string, model: string): string {
  const { preset, allowance } = splitAgentName(agent);
  const named = `${preset}@${model.replace("/", ":").replaceAll("/", "~")}`;
  return allowance === undefined ? named : `${named}+${allowance}`;
}

/** The preset of the agent `name`, by the preset of its file. */
export function presetNamed(preset: AgentPreset, name: string) {
  const { model, allowance } = splitAgentName(name);
  const title = model === undefined ? preset.title : `${preset.title}, ${model.replace(":", "/")}`;
  const isWhole = model === undefined || preset.kind === "team"; // the models of a team are its members'
  const named = isWhole ? { ...preset, name, title } : presetWithModel(preset, { name, model });
  if ("message" in named || allowance === undefined) return named;
  return { ...named, title: `${named.title}, ${allowance}` };
}

/** The preset of the agent `name`, which splits into the preset's file and `model`. */
function presetWithModel(
  preset: AgentPreset,
  { name, model }: { name: string; model: string },
): AgentPreset | ModelProblem {
  if (preset.kind === "replay" && model === liveToolsName)
    return { ...preset, liveTools: true, name, title: `${preset.title}, live tools` };
  const chosen = chosenModel(model);
  if (!chosen)
    return {
      message: `"${model}" names no provider and model`,
      help: `write --set model=PROVIDER/ID, of a judge --set judge=PROVIDER/ID, e.g. ${exampleModel}`,
    };
  const title = `${preset.name} with ${chosen.provider}/${chosen.id}`;
  const changed = preset.kind === "llm" ? ofScaffold(preset, chosen) : ofProgram(preset, chosen);
  return "message" in changed ? changed : { ...preset, ...changed, name, title };
}

function chosenModel(text: string): ChosenModel | undefined {
  const [, provider, id] = /^([a-zA-Z0-9][\w.-]*):(.+)$/u.exec(text) ?? [];
  return provider === undefined || id === undefined ? undefined : { provider, id: id.replaceAll("~", "/") };
}

function ofScaffold(preset: AgentPreset, { provider, id }: ChosenModel): Partial<AgentPreset> | ModelProblem {
  const { model, planner, secrets = [] } = preset;
  if (model === undefined)
    return {
      message: `the preset ${preset.name} has no \`model\` with limits for a chosen model`,
      help: "write `model: { contextTokens: …, maxOutputTokens: … }` in it",
    };
  const { family: _, ...own } = model;
  if (provider === preset.provider) return { model: { ...own, id } };
  if (!isKnownProvider(provider))
    return {
      message: `provider "${provider}" needs an address, and ${preset.name} has none for it`,
      help: `add a preset with \`provider: ${provider}\` and \`baseUrl\`, and choose its other models with --set model; without a preset: ${Object.keys(keyVariables).join(", ")}`,
    };
  const key = keyVariables[provider];
  // options, address and price belong to the preset's own provider
  const { contextTokens, maxOutputTokens, temperature } = model;
  const kept = secrets.filter((name) => name !== model.key || name === planner?.key);
  return {
    provider,
    model: {
      ...{ id, key, contextTokens },
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(temperature !== undefined && { temperature }),
    },
    secrets: [...new Set([...kept, key])],
  };
}

/** The first id of the only provider is the model that the command names; the CLI may call the others by itself. */
function ofProgram(preset: AgentPreset, { provider, id }: ChosenModel): Partial<AgentPreset> | ModelProblem {
  const { name, gateway = [], command = [] } = preset;
  const [only, ...others] = gateway;
  if (!only)
    return {
      message: `agent "${name}" calls no model that could be chosen`,
      help: "choose an agent of kind llm or a coding CLI: `pnpm pipeline list agents` shows all",
    };
  if (others.length > 0 || only.provider !== provider)
    return {
      message: `agent "${name}" speaks the protocol of ${gateway.map((one) => one.provider).join(" and ")}, not of ${provider}`,
      help:
        others.length > 0
          ? "add a preset for this model: an agent of several providers has no single model to replace"
          : `choose --set model=${only.provider}/ID`,
    };
  const [own, ...more] = only.ids as [string, ...string[]];
  const named = new RegExp(`(?<![\\w.:-])${RegExp.escape(own)}(?![\\w.:-])`, "gu");
  if (!command.some((part) => part.search(named) >= 0))
    return {
      message: `the command of agent "${name}" does not name its model ${own}`,
      help: "add a preset for this model: there is no name in the command to replace",
    };
  return {
    command: command.map((part) => part.replace(named, () => id)),
    gateway: [{ ...only, ids: [...new Set([id, ...more])] }],
  };
}
