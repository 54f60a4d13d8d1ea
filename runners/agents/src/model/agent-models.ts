// Which models an attempt may call, by the parameters of its stage, and which of them have no known price: a limit in
// dollars cannot hold those. Checked before a run starts and again by each attempt. Pure.
import { agentPreset } from "@mlrb/formats/declared/agent-preset";
import { checkFormat } from "@mlrb/formats/read-format";
import { listOf, openObject } from "@mlrb/formats/schema";
import type { Json } from "@mlrb/kit/stage";
import { presetFields } from "../attempt/attempt-params.ts";
import type { PriceBook } from "../spending/prices.ts";

export type AgentModel = {
  provider: string;
  /** An id that ends in `*` is a prefix. */
  id: string;
  free: boolean;
};

const { kind, provider, model, planner, gateway } = agentPreset.properties;
// only the needed fields: a preset that starts in spite of an error elsewhere must not count as free
const format = openObject(
  {
    kind,
    provider,
    model: openObject({ id: model.properties.id, free: model.properties.free }, ["id"]),
    planner: openObject(
      { provider: planner.properties.provider, id: planner.properties.id, free: planner.properties.free },
      ["provider", "id"],
    ),
    gateway: listOf(openObject(gateway.items.properties, ["provider", "ids"])),
  },
  ["kind"],
);

/** Empty for agents without a model or with a recorded one, and for params of other stages. */
export function agentModels(params: Record<string, Json>): AgentModel[] {
  const preset = checkFormat(format, presetFields(params));
  if (preset.kind === "unreadable") return [];
  const { kind, provider, model, planner, gateway } = preset.value;
  if (kind === "llm" && provider !== undefined && model)
    return [{ provider, ...model }, ...(planner ? [planner] : [])].map((one) => ({
      ...{ provider: one.provider, id: one.id, free: one.free === true },
    }));
  if (kind !== "command" || !gateway) return [];
  return gateway.flatMap(({ provider, ids, free = false }) => ids.map((id) => ({ provider, id, free })));
}

export function unpriced(models: AgentModel[], prices: PriceBook): AgentModel[] {
  return models.filter(({ provider, id, free }) => !free && prices.priceOf(provider, id) === undefined);
}

/** How to give prices. `command`: the command to repeat with them. */
export function priceHelp(models: AgentModel[], command?: string): string {
  const wanted = [...new Set(models.map(({ id }) => id))].map((id) => `${id}=INPUT/OUTPUT`);
  const options = wanted.map((one) => `--price ${/^[\w./:@=-]+$/u.test(one) ? one : `'${one}'`}`);
  const words = [...(command === undefined ? [] : [command]), ...options].join(" ");
  return (
    `give the provider's price for a million tokens, in dollars: ${words}; ` +
    "or add it to runners/agents/prices.yaml with its date and source; or set `free: true` in the preset of an endpoint without a bill"
  );
}
