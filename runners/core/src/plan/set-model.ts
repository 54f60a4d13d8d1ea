// `--set model=PROVIDER/ID` chooses the model of each selected agent. It is no axis of its own: the agent's name
// gains the model, so that records, tables and `--only` treat it as they treat any agent. A pipeline's own axis
// called model wins.

import type { PipelineSpec } from "@mlrb/formats/declared/pipeline";
import { agentWithModel, exampleModel, splitAgentName } from "../spec/agent-model.ts";
import { openPreset } from "../spec/manifest.ts";
import type { Sources } from "../spec/sources.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { Selection } from "./resolve-axes.ts";

type Axes = NonNullable<PipelineSpec["axes"]>;

/** The selection with the models in the names of its agents. `axes` are those of the profile. */
export function setModel(set: Selection, axes: Axes): { set: Selection; problems: Diagnostic[] } {
  const { model: models, ...rest } = set;
  const listed = axes.agent;
  if (models === undefined || Object.hasOwn(axes, "model") || !Array.isArray(listed))
    return { set, problems: [] };
  const agents = rest.agent ?? listed.map(String);
  const odd = models.find((model) => model.includes("~") || !/^[\w.:@/-]{1,100}$/u.test(model));
  if (odd !== undefined) {
    const message = `"${odd}" cannot be part of an agent's name: letters, digits and . _ : @ / - only, at most 100`;
    const help = "add a preset that names this model, and choose it as an agent";
    return { set: rest, problems: [{ code: "unknown-model", message, help }] };
  }
  const named = agents.find((agent) => splitAgentName(agent).model !== undefined);
  if (named !== undefined) {
    const message = `agent "${named}" names a model already`;
    return { set: rest, problems: [{ code: "two-models", message, help: "leave out --set model=…" }] };
  }
  return {
    set: { ...rest, agent: agents.flatMap((agent) => models.map((model) => agentWithModel(agent, model))) },
    problems: [],
  };
}

/** A judge that is chosen as PROVIDER/ID becomes a preset with that model: of a judge only its model counts. */
export function setJudges(set: Selection, sources: Sources): { set: Selection; problems: Diagnostic[] } {
  const { judge = [], ...rest } = set;
  const models = judge.filter((name) => name.includes("/"));
  const preset = models.length > 0 && openPreset(sources);
  if (!preset) return { set, problems: [] };
  const odd = models.find((name) => !/^[a-zA-Z0-9][\w.-]*(?:\/[\w.:@-]+)+$/.test(name) || name.length > 100);
  if (odd !== undefined) {
    const message = `judge "${odd}" names no provider and model`;
    const help = `write --set judge=PROVIDER/ID, e.g. --set judge=${exampleModel}; \`pnpm pipeline list judges\` shows presets`;
    return { set: rest, problems: [{ code: "unknown-judge", message, help }] };
  }
  const chosen = judge.map((name) => (name.includes("/") ? agentWithModel(preset, name) : name));
  return { set: { ...rest, judge: chosen }, problems: [] };
}
