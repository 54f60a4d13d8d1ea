// What new attempts of paid models can cost at most, by agent: from their budgets and the known prices. Earlier
// attempts do not count here; `totalCost` has what is expected.
import { createRequire } from "node:module";
import { type DollarsBound, dollarsBound } from "@mlrb/agents/model/dollars-bound";
import type { PriceBook } from "@mlrb/agents/spending/prices";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { estimateFrom, isPaid } from "@mlrb/local/records/estimate-cost";
import { costSum, total } from "./spent.ts";

// What reads YAML is loaded only for a plan in which something could cost dollars.
const require = createRequire(import.meta.url);

export type AgentBound = Exclude<ReturnType<typeof agentBounds>, Diagnostic>[number];

/** The table of prices is read as well, so a plan without an attempt that could cost anything does not call this. */
export function bookOf(prices: string[]): PriceBook | Diagnostic {
  const { priceBook } =
    require("@mlrb/agents/spending/prices") as typeof import("@mlrb/agents/spending/prices");
  try {
    return priceBook([{ run: null, prices }]);
  } catch (error) {
    return { code: "bad-price", message: (error as Error).message };
  }
}

/** `given`: prices of --price. */
export function agentBounds(starts: Instance[], given: string[]) {
  const paid = starts.filter(({ stage, action }) => stage.durable && isPaid(action, () => true));
  const prices = paid.length > 0 && bookOf(given);
  if (!prices) return [];
  if ("code" in prices) return prices;
  return [...Map.groupBy(paid, ({ axes }) => String(axes.agent ?? ""))].map(([agent, own]) => {
    const bounds = own.map(({ action }) => dollarsBound(action, prices));
    const hours = own.map((one) => estimateFrom(one, []).gpuHours);
    return {
      ...{ agent, attempts: own.length },
      // of all its attempts together; null: unknown
      gpuHours: total(hours),
      dollars: total(bounds.map((one) => (one.kind === "known" ? one.dollars : null))),
      /** By what the dollars are bounded, or why they are not. */
      by: [...new Set(bounds.map(boundWords))].join("; "),
    };
  });
}

function boundWords(bound: DollarsBound): string {
  switch (bound.kind) {
    case "known":
      return `each by ${bound.by}`;
    case "unpriced":
      return `no price of ${bound.models.map(({ provider, id }) => `${provider} ${id}`).join(", ")} is known: add ${bound.models.map(({ id }) => `--price '${id}=INPUT/OUTPUT'`).join(" ")}`;
    case "unlimited":
      return "no limit of tokens or dollars, and its program chooses the size of its calls";
    default:
      return bound satisfies never;
  }
}

/** `reported`: what somebody else's attempts under these conditions cost. */
export function boundLines(
  bounds: AgentBound[],
  { maxDollars, reported }: { maxDollars: number | undefined; reported: Plan["reported"] },
): string[] {
  if (bounds.length === 0) return [];
  const attempts = bounds.reduce((all, one) => all + one.attempts, 0);
  const all = { attempts, ...costSum(bounds) };
  const cap =
    maxDollars === undefined ? "--max-cost limits what they spend" : `--max-cost ${maxDollars} holds`;
  return [
    `by budgets and prices: ${amounts(all)}; ${cap}`,
    ...bounds.map((one) => `  ${one.agent}: ${amounts(one)} (${one.by})`),
    ...(reported
      ? [
          `  ${reported.source} reports about ${reported.dollars} dollars for an attempt: ${(attempts * reported.dollars).toFixed(2)} for ${attempts}`,
        ]
      : []),
  ];
}

function amounts({ attempts, gpuHours, dollars }: Omit<AgentBound, "agent" | "by">): string {
  const most = (amount: number | null, unit: string, digits: number) =>
    amount === null ? `${unit} without a bound` : `at most ${amount.toFixed(digits)} ${unit}`;
  return [counted(attempts, "attempt"), most(gpuHours, "GPU hours", 1), most(dollars, "dollars", 2)].join(
    ", ",
  );
}
