// One tool call for each model that a plan's agents name: the only deep checks that cost money, so a person agrees first.

import { setTimeout as sleep } from "node:timers/promises";
import { priceHelp, unpriced } from "@mlrb/agents/model/agent-models";
import { probeToolCall, toolCallBound } from "@mlrb/agents/model/probe-model";
import { boundUsage } from "@mlrb/agents/spending/call-charge";
import { type PriceBook, priceBook } from "@mlrb/agents/spending/prices";
import type { Sources } from "@mlrb/core/spec/manifest";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type CostOptions, costLimits, personAgrees } from "../gates/cost-gate.ts";
import { modelChecks } from "../gates/model-checks.ts";
import { type PresetModel, presetModels } from "../gates/preset-models.ts";
import { runPurse } from "../gates/price-gate.ts";
import { refuse } from "../request/refuse.ts";
import type { DeepCheck } from "./deep-text.ts";

/** An attempt waits for a busy model; a check tries it once more. */
const busyPauseMs = 20_000;

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
  const distinct = new Map(models.map((model) => [callKey(model), model.spec]));
  const paid = [...distinct.values()].filter(({ free }) => !free);
  const asAgentModels = paid.map(({ provider, id }) => ({ provider, id, free: false }));
  const unknown = unpriced(asAgentModels, prices);
  const most = paid.reduce(
    (sum, spec) => sum + (prices.dollarsOf(boundUsage(toolCallBound(spec)), spec.provider, spec.id) ?? 0),
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

/** Equal for agents that make the same call: one model with the same settings, in the same role. */
function callKey({ role, spec }: PresetModel): string {
  return JSON.stringify([role, Object.entries(spec).sort()]);
}

/** A model of several agents with the same settings is asked once; a busy one again after a pause. */
export async function toolCallChecks(
  { models, prices }: ToolCalls,
  keyOf: (name: string) => string | undefined,
): Promise<DeepCheck[]> {
  const times = new Map<string, number>();
  const found = await modelChecks(models, {
    ...{ keyOf, same: callKey },
    async probe(model, key) {
      const begin = performance.now();
      // no scaffold gives a planner tools
      const options = { prices, timeoutMs: 60_000, tools: model.role === "model" };
      let probed = await probeToolCall(model.spec, key, options);
      if (probed.answer === "busy") {
        await sleep(busyPauseMs);
        probed = await probeToolCall(model.spec, key, options);
      }
      times.set(callKey(model), performance.now() - begin);
      return probed;
    },
  });
  const byName = new Map(models.map((model) => [`${model.role} of ${model.agent}`, model]));
  return [...found.values()].flat().map(({ name, answer, found: words, help }): DeepCheck => {
    const ms = times.get(callKey(byName.get(name)!)) ?? null;
    if (answer === "works") return { kind: "passed", name, ms, found: words };
    return { kind: "failed", name, ms, cause: words, help: help ?? "docs/failures.md lists the causes" };
  });
}
