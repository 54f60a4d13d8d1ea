// `doctor --models` with a limit on the cost: one tool call for each model, as a scaffold makes it. A person
// agrees first.
import { setTimeout as sleep } from "node:timers/promises";
import { priceHelp, unpriced } from "@mlrb/agents/model/agent-models";
import { probeToolCall, toolCallBound } from "@mlrb/agents/model/probe-model";
import { boundUsage } from "@mlrb/agents/spending/call-charge";
import { type PriceBook, priceBook } from "@mlrb/agents/spending/prices";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { refuse } from "../request/refuse.ts";
import { type CostOptions, personAgrees } from "./cost-gate.ts";
import type { PresetModel, Probing } from "./model-checks.ts";
import { runPurse } from "./price-gate.ts";

/** An attempt waits for a busy model; a check tries it once more. */
const busyPauseMs = 20_000;

/** How `models` are asked; undefined after printing why they are not. */
export async function toolCalls(
  models: PresetModel[],
  options: CostOptions & { json: boolean },
): Promise<Pick<Probing, "probe" | "same"> | undefined> {
  const purse = runPurse(options);
  if ("code" in purse) {
    refuse([purse], options.json);
    return undefined;
  }
  const prices = priceBook([{ run: null, prices: purse.prices }]);
  const problem = options.yes ? undefined : overLimit(models, { prices, limit: purse.maxDollars ?? 0 });
  if (problem && !(await personAgrees(problem, options.json))) return undefined;
  return {
    same: callKey,
    async probe({ spec, role }, key) {
      // no scaffold gives a planner tools
      const asked = { prices, timeoutMs: 60_000, tools: role === "model" };
      const probed = await probeToolCall(spec, key, asked);
      if (probed.answer !== "busy") return probed;
      await sleep(busyPauseMs);
      return probeToolCall(spec, key, asked);
    },
  };
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
    message: `This asks ${counted(paid.length, "model")} for a tool call, for at most ${most.toFixed(2)} dollars${price}; the limit is ${counted(limit, "dollar")}.`,
    help: `pass --yes, or raise --max-cost${unknown.length > 0 ? `; ${priceHelp(unknown)}` : ""}`,
  };
}

/** Equal for agents that make the same call: one model with the same settings, in the same role. */
function callKey({ role, spec }: PresetModel): string {
  return JSON.stringify([role, Object.entries(spec).sort()]);
}
