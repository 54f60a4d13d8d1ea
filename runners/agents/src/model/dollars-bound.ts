// The most that an attempt's model calls can cost, by its limits and by known prices. Where neither tokens nor dollars
// are limited, only the number of calls is: then the bound assumes that each call fills the model's context, and is
// far above what attempts cost.
import { attemptFields, llmSpecs, turnsMaxDefault } from "@mlrb/formats/declared/agent-preset";
import { isTable } from "@mlrb/formats/is-table";
import { checkFormat } from "@mlrb/formats/read-format";
import type { Json } from "@mlrb/kit/stage";
import { boundUsage, outputTokensMaxOf } from "../spending/call-charge.ts";
import type { PriceBook } from "../spending/prices.ts";
import { type AgentModel, agentModels, unpriced } from "./agent-models.ts";

/** `by`: what bounds the dollars, in words. */
export type DollarsBound =
  | { kind: "known"; dollars: number; by: string }
  | { kind: "unpriced"; models: AgentModel[] }
  | { kind: "unlimited" };

/** Of a paid attempt. */
export function dollarsBound(
  { params, budget }: { params: Record<string, Json>; budget: { tokens?: number; dollars?: number } },
  prices: PriceBook,
): DollarsBound {
  const { tokens, dollars } = budget;
  if (dollars !== undefined) return { kind: "known", dollars, by: "its limit of dollars" };
  const models = agentModels(params).filter(({ free }) => !free);
  const missing = unpriced(models, prices);
  if (missing.length > 0) return { kind: "unpriced", models: missing };
  const priced = (inputTokens: number, outputTokens: number, { provider, id }: Omit<AgentModel, "free">) =>
    prices.dollarsOf(boundUsage({ inputTokens, outputTokens }), provider, id)!;
  const bounds: (DollarsBound & { kind: "known" })[] = [];
  if (tokens !== undefined && models.length > 0) {
    const most = models.flatMap((model) => [priced(tokens, 0, model), priced(0, tokens, model)]);
    bounds.push({ kind: "known", dollars: Math.max(...most), by: `its limit of ${tokens} tokens` });
  }
  const called = calledModels(params).filter(({ free }) => !free);
  // a program behind the gateway chooses the size of its calls
  if (called.length > 0 && called.length === models.length) {
    const calls = Number(attemptFields(params).turnsMax ?? turnsMaxDefault);
    const each = called.map((one) =>
      priced(one.contextTokens, outputTokensMaxOf(one) ?? one.contextTokens, one),
    );
    const by = `${calls} calls of up to ${Math.max(...called.map((one) => one.contextTokens))} tokens`;
    bounds.push({ kind: "known", dollars: calls * Math.max(...each), by });
  }
  return bounds.sort((a, b) => a.dollars - b.dollars)[0] ?? { kind: "unlimited" };
}

function calledModels(params: Record<string, Json>) {
  const { provider, model, planner } = attemptFields(params);
  return [isTable(model) ? { ...model, provider } : model, planner].flatMap((one) => {
    const reading = checkFormat(llmSpecs.model, one);
    return reading.kind === "ok" ? [reading.value] : [];
  });
}
