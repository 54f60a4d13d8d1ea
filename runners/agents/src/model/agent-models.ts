// Which models an attempt may call, by the parameters of its stage, and which of them have no known price: a limit
// of dollars cannot be held over those. The one guard, used before a run starts and again by each attempt. Pure.
import type { Json } from "@mlrb/kit/stage";
import type { PriceBook } from "./prices.ts";

export type AgentModel = {
  provider: string;
  /** One that ends in `*` is all that begin so. */
  id: string;
  free: boolean;
};

/** None for agents that call no model, or one that is recorded. */
export function agentModels(params: Record<string, Json>): AgentModel[] {
  const { kind, provider, model, gateway } = params;
  if (kind === "llm" && isTable(model) && typeof model.id === "string")
    return [{ provider: String(provider), id: model.id, free: model.free === true }];
  if (kind !== "command" || !Array.isArray(gateway)) return [];
  return gateway.filter(isTable).flatMap((entry) =>
    (Array.isArray(entry.ids) ? entry.ids : []).map((id) => ({
      provider: String(entry.provider),
      id: String(id),
      free: entry.free === true,
    })),
  );
}

export function unpriced(models: AgentModel[], prices: PriceBook): AgentModel[] {
  return models.filter(({ provider, id, free }) => !free && prices.priceOf(provider, id) === undefined);
}

/** For those who know what their provider charges. `command`: what is to be typed again with the prices. */
export function priceHelp(models: AgentModel[], command?: string): string {
  const wanted = [...new Set(models.map(({ id }) => id))].map((id) => `${id}=INPUT/OUTPUT`);
  const options = wanted.map((one) => `--price ${/^[\w./:@=-]+$/u.test(one) ? one : `'${one}'`}`);
  const words = [...(command === undefined ? [] : [command]), ...options].join(" ");
  return (
    `say what the provider charges for a million tokens, in dollars: ${words}; ` +
    "or write it into runners/agents/prices.yaml with its date and source; or `free: true` in the preset, for an endpoint that bills nobody"
  );
}

function isTable(value: Json | undefined): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
