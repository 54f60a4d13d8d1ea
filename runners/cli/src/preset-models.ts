// The models that the agents of a plan call, by their presets. What is wrong with a preset is the plan's to tell.
// Pure: files come from `sources`.
import type { ModelSpec } from "@mlrb/agents/model/model-client";
import { manifestFile, type Sources } from "@mlrb/core/manifest";
import { parseYaml } from "@mlrb/core/yaml-source";

export type PresetModel = { agent: string; spec: ModelSpec };

/** In the order of the names; agents that call no model are left out. */
export function presetModels(agents: string[], sources: Sources): PresetModel[] {
  return agents.flatMap((agent) => {
    const file = manifestFile("agent", agent);
    const text = sources.read(file);
    const source = text === undefined ? undefined : parseYaml(file, text);
    if (source === undefined || Array.isArray(source)) return [];
    const preset = source.value as { kind?: unknown; provider?: unknown; model?: Partial<ModelSpec> } | null;
    if (preset?.kind !== "llm" || typeof preset.provider !== "string") return [];
    if (typeof preset.model?.id !== "string") return [];
    const { contextTokens = 0, ...model } = preset.model;
    return [{ agent, spec: { ...(model as ModelSpec), contextTokens, provider: preset.provider } }];
  });
}
