// `pipeline doctor --models`: finds the models that agents call, from their presets, and probes each. Agents with
// the same model share a probe. Problems of a preset are reported with the plan.

import type { ModelProbe } from "@mlrb/agents/model/probe-model";
import { readManifest, type Sources } from "@mlrb/core/spec/manifest";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { Check } from "./check.ts";

export type PresetModel = { agent: string; role: "model" | "planner"; spec: ModelSpec };

/** In the order of the names; agents that call no model are left out. */
export function presetModels(agents: string[], sources: Sources): PresetModel[] {
  return agents.flatMap((agent) => {
    const preset = readManifest("agent", agent, sources);
    if (preset === undefined || Array.isArray(preset)) return [];
    const { kind, provider, model, planner, team } = preset.value;
    // members with the same model share its probe, and here its line
    if (team) {
      const ofMembers = presetModels([...new Set(team.members.map((one) => one.agent))], sources);
      return ofMembers.map((one) => ({ ...one, agent }));
    }
    if (kind !== "llm") return [];
    const { id } = model ?? {};
    const isWhole = provider !== undefined && model !== undefined && id !== undefined;
    const own = isWhole ? [{ agent, role: "model" as const, spec: { ...model, provider, id } }] : [];
    return [...own, ...(planner ? [{ agent, role: "planner" as const, spec: planner }] : [])];
  });
}

type Probe = (model: PresetModel, key: string | undefined) => Promise<ModelProbe>;

export type Probing = {
  probe: Probe;
  keyOf: (name: string) => string | undefined;
  /** Equal for models that share a probe. */
  same?: (model: PresetModel) => string;
};

/** By agent. `keyOf` gives the value of a variable; it goes to the probe and nowhere else. */
export async function modelChecks(
  models: PresetModel[],
  { probe, keyOf, same = ({ spec }) => modelKey(spec) }: Probing,
): Promise<Map<string, Check[]>> {
  const probes = new Map<string, Promise<ModelProbe>>();
  const probed = (model: PresetModel) => {
    const { key } = model.spec;
    const begun = probes.get(same(model)) ?? probe(model, key === undefined ? undefined : keyOf(key));
    probes.set(same(model), begun);
    return begun;
  };
  const checks = await Promise.all(
    models.map(async (model) => ({ agent: model.agent, check: checkOf(model, await probed(model)) })),
  );
  const byAgent = Map.groupBy(checks, ({ agent }) => agent);
  return new Map([...byAgent].map(([agent, own]) => [agent, own.map(({ check }) => check)]));
}

/** Equal for specs that are one model. */
function modelKey({ provider, id, baseUrl, key }: ModelSpec): string {
  return JSON.stringify([provider, id, baseUrl, key]);
}

function checkOf({ agent, role, spec }: PresetModel, { answer, found, wayOut }: ModelProbe): Check {
  // a busy model is no obstacle: an attempt waits for it
  const kind = { works: "works", busy: "note", unclear: "note" } as const;
  const said = answer in kind ? kind[answer as keyof typeof kind] : "missing";
  return {
    name: `${role} of ${agent}`,
    answer: said,
    found: `${spec.id}: ${found}`,
    ...(wayOut !== null && { help: wayOut }),
  };
}
