// One tool call for each model that a plan's agents name: the only deep checks that cost money, so a person agrees first.

import { priceHelp, unpriced } from "@mlrb/agents/model/agent-models";
import { boundUsage } from "@mlrb/agents/model/call-charge";
import { type PriceBook, priceBook } from "@mlrb/agents/model/prices";
import { probeToolCall, toolCallBound } from "@mlrb/agents/model/probe-model";
import type { Sources } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type CostOptions, costLimits, personAgrees } from "../gates/cost-gate.ts";
import { modelChecks, modelKey } from "../gates/model-checks.ts";
import { type PresetModel, presetModels } from "../gates/preset-models.ts";
import { runPurse } from "../gates/price-gate.ts";
import { refuse } from "../request/request.ts";
import { counted } from "../show/counted.ts";
import type { DeepCheck } from "./deep-text.ts";

export type ToolCalls = { models: PresetModel[]; prices: PriceBook };

/** The calls of `agents`; undefined after printing why they are not made. */
export async function agreedToolCalls(
  agents: string[],
  sources: Sources,
  options: CostOptions & { json: boolean },
): Promise<ToolCalls | undefined> {
  const purse = runPurse(options);
  const limits = costLimits(options);
  if ("code" in purse || "code" in limits) {
    refuse(
      [purse, limits].filter((one) => "code" in one),
      options.json,
    );
    return undefined;
  }
  const prices = priceBook([{ run: null, prices: purse.prices }]);
  const models = presetModels(agents, sources);
  const problem = options.yes ? undefined : overLimit(models, { prices, limit: limits.dollars });
  if (problem && !(await personAgrees(problem, options.json))) return undefined;
  return { models, prices };
}

function overLimit(
  models: PresetModel[],
  { prices, limit }: { prices: PriceBook; limit: number },
): Diagnostic | undefined {
  const distinct = new Map(models.map(({ spec }) => [modelKey(spec), spec]));
  const paid = [...distinct.values()].filter(({ free }) => !free);
  const asAgentModels = paid.map(({ provider, id }) => ({ provider, id, free: false }));
  const unknown = unpriced(asAgentModels, prices);
  const most = paid.reduce(
    (sum, { provider, id }) => sum + (prices.dollarsOf(boundUsage(toolCallBound), provider, id) ?? 0),
    0,
  );
  if (unknown.length === 0 && most <= limit) return undefined;
  const price = unknown.length > 0 ? `, ${counted(unknown.length, "model")} of them at an unknown price` : "";
  return {
    code: "over-cost",
    message: `--deep asks ${counted(paid.length, "model")} for a tool call, for at most ${most.toFixed(2)} dollars${price}; the limit is ${counted(limit, "dollar")}.`,
    help: `pass --yes, or raise --max-cost${unknown.length > 0 ? `; ${priceHelp(unknown)}` : ""}`,
  };
}

/** A model of several agents is asked once. */
export async function toolCallChecks(
  { models, prices }: ToolCalls,
  keyOf: (name: string) => string | undefined,
): Promise<DeepCheck[]> {
  const times = new Map<string, number>();
  const found = await modelChecks(models, {
    keyOf,
    async probe(spec, key) {
      const begin = performance.now();
      const probed = await probeToolCall(spec, key, { prices, timeoutMs: 60_000 });
      times.set(modelKey(spec), performance.now() - begin);
      return probed;
    },
  });
  const specs = new Map(models.map(({ agent, role, spec }) => [`${role} of ${agent}`, spec]));
  return [...found.values()].flat().map(({ name, answer, found: words, help }): DeepCheck => {
    const ms = times.get(modelKey(specs.get(name)!)) ?? null;
    if (answer === "works") return { kind: "passed", name, ms, found: words };
    return { kind: "failed", name, ms, cause: words, help: help ?? "docs/failures.md lists the causes" };
  });
}
