// The models that the agents of a plan call, from their presets. Problems of a preset are reported with the plan.
// Pure: files come from `sources`.

import { readManifest, type Sources } from "@mlrb/core/spec/manifest";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";

export type PresetModel = { agent: string; role: "model" | "planner"; spec: ModelSpec };

/** In the order of the names; agents that call no model are left out. */
export function presetModels(agents: string[], sources: Sources): PresetModel[] {
  return agents.flatMap((agent) => {
    const preset = readManifest("agent", agent, sources);
    if (preset === undefined || Array.isArray(preset)) return [];
    const { kind, provider, model, planner } = preset.value;
    if (kind !== "llm") return [];
    const { id } = model ?? {};
    const isWhole = provider !== undefined && model !== undefined && id !== undefined;
    const own = isWhole ? [{ agent, role: "model" as const, spec: { ...model, provider, id } }] : [];
    return [...own, ...(planner ? [{ agent, role: "planner" as const, spec: planner }] : [])];
  });
}
