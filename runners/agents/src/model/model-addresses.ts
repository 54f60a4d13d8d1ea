// The addresses that an attempt's model calls go to, with the secret that each needs: the relay of a cluster's submitting
// host forwards to nothing else. Pure.
import type { RelayRoute } from "@mlrb/core/ports/relay";
import { agentPreset } from "@mlrb/formats/declared/agent-preset";
import { checkFormat } from "@mlrb/formats/read-format";
import { listOf, openObject } from "@mlrb/formats/schema";
import type { Json } from "@mlrb/kit/stage";
import { presetFields } from "../attempt/attempt-params.ts";
import { knownProviders } from "../gateway/gateway-provider.ts";

const { kind, provider, model, planner, gateway } = agentPreset.properties;
const called = { baseUrl: model.properties.baseUrl, key: model.properties.key };
const format = openObject(
  {
    kind,
    provider,
    model: openObject(called, []),
    planner: openObject({ ...called, provider: planner.properties.provider }, []),
    gateway: listOf(openObject({ ...called, provider: gateway.items.properties.provider }, ["provider"])),
  },
  ["kind"],
);

/** Empty for agents without a model, and for params of other stages. */
export function modelAddresses(params: Record<string, Json>): RelayRoute[] {
  const preset = checkFormat(format, presetFields(params));
  if (preset.kind === "unreadable") return [];
  const { kind, provider, model, planner, gateway = [] } = preset.value;
  const models =
    kind === "llm" ? [model && { provider, ...model }, planner] : kind === "command" ? gateway : [];
  return models.flatMap((one) => {
    if (one === undefined) return [];
    const { provider = "", baseUrl, key } = one;
    const address =
      baseUrl ?? (Object.hasOwn(knownProviders, provider) ? knownProviders[provider]!.baseUrl : undefined);
    return address === undefined ? [] : [{ address, ...(key !== undefined && { secret: key }) }];
  });
}
