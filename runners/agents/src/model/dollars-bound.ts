// The most that an attempt's model calls can cost, by its limits and by known prices. Where neither tokens nor dollars
// are limited, only the number of calls is: then the bound assumes that each call fills the model's context, and is
// far above what attempts cost.
import { actingPresets, llmSpecs, turnsMaxDefault } from "@mlrb/formats/declared/agent-preset";
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
  const callers = actingPresets(params).map((preset) => ({
    calls: Number(preset.turnsMax ?? turnsMaxDefault),
    called: calledModels(preset).filter(({ free }) => !free),
  }));
  const called = callers.flatMap((one) => one.called);
  // a program behind the gateway chooses the size of its calls
  if (called.length > 0 && called.length === models.length) {
    const paying = callers.filter((one) => one.called.length > 0);
    const dollars = paying.map(({ calls, called }) => {
      const each = called.map((one) =>
        priced(one.contextTokens, outputTokensMaxOf(one) ?? one.contextTokens, one),
      );
      return calls * Math.max(...each);
    });
    const calls = paying.reduce((sum, one) => sum + one.calls, 0);
    const by = `${calls} calls of up to ${Math.max(...called.map((one) => one.contextTokens))} tokens`;
    bounds.push({ kind: "known", dollars: dollars.reduce((sum, one) => sum + one, 0), by });
  }
  return bounds.sort((a, b) => a.dollars - b.dollars)[0] ?? { kind: "unlimited" };
}

function calledModels({ provider, model, planner }: Record<string, Json>) {
  return [isTable(model) ? { ...model, provider } : model, planner].flatMap((one) => {
    const reading = checkFormat(llmSpecs.model, one);
    return reading.kind === "ok" ? [reading.value] : [];
  });
}
