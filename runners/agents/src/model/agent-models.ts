// Which models an attempt may call, by the parameters of its stage, and which of them have no known price: a limit
// in dollars cannot hold those. Checked before a run starts and again by each attempt. Pure.
import type { RelayRoute } from "@mlrb/core/ports/relay";
import { actingPresets, agentPreset } from "@mlrb/formats/declared/agent-preset";
import { checkFormat } from "@mlrb/formats/read-format";
import { anyText, listOf, openObject } from "@mlrb/formats/schema";
import { relayedAddress } from "@mlrb/kit/attempts/service-addresses";
import type { Json } from "@mlrb/kit/stage";
import { presetFields } from "../attempt/attempt-params.ts";
import { knownProviders } from "../gateway/gateway-provider.ts";
import type { PriceBook } from "../spending/prices.ts";

export type AgentModel = {
  provider: string;
  /** An id that ends in `*` is a prefix. */
  id: string;
  free: boolean;
  /** Where the preset states it. */
  family?: string;
};

const { kind, provider, model, planner, gateway } = agentPreset.properties;
const called = ({ id, free, family }: typeof model.properties | typeof planner.properties) => ({
  ...{ id, free, family, baseUrl: anyText, key: anyText },
});
// only the needed fields: a preset that starts in spite of an error elsewhere must not count as free
const format = openObject(
  {
    ...{ kind, provider, model: openObject(called(model.properties), ["id"]) },
    planner: openObject({ ...called(planner.properties), provider: planner.properties.provider }, [
      "provider",
      "id",
    ]),
    gateway: listOf(openObject(gateway.items.properties, ["provider", "ids"])),
  },
  ["kind"],
);

/** Empty for agents without a model or with a recorded one, and for params of other stages. */
function presetModels(params: Record<string, Json>) {
  return actingPresets(params).flatMap(modelsOf);
}

function modelsOf(params: Record<string, Json>) {
  const preset = checkFormat(format, presetFields(params));
  if (preset.kind === "unreadable") return [];
  const { kind, provider, model, planner, gateway = [] } = preset.value;
  if (kind === "command") return gateway;
  if (kind !== "llm" || provider === undefined || !model) return [];
  return [{ provider, ...model }, ...(planner ? [planner] : [])].map(({ id, ...one }) => ({
    ...one,
    ids: [id],
  }));
}

export function agentModels(params: Record<string, Json>): AgentModel[] {
  return presetModels(params).flatMap(({ provider, ids, free = false, ...model }) => {
    const family = "family" in model && typeof model.family === "string" && { family: model.family };
    return ids.map((id) => ({ provider, id, free, ...family }));
  });
}

/** The addresses that calls go to, with the secret that each needs: the relay of a cluster's host forwards to no other. */
export function modelAddresses(params: Record<string, Json>): RelayRoute[] {
  return presetModels(params).flatMap(({ provider, baseUrl, key }) => {
    const address = baseUrl ?? knownProviders.get(provider)?.baseUrl;
    return address === undefined || !URL.canParse(relayedAddress(address))
      ? []
      : [{ address, ...(key !== undefined && { secret: key }) }];
  });
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
