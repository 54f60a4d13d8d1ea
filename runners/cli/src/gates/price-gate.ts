// A limit in dollars can only be enforced with known prices: of the table, or of --price.
import { createRequire } from "node:module";
import { type AgentModel, agentModels, priceHelp, unpriced } from "@mlrb/agents/model/agent-models";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Sources } from "@mlrb/core/spec/manifest";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { RunPurse } from "@mlrb/local/run/run-request";
import { type Check, missing } from "./check.ts";
import { type CostOptions, costLimits } from "./cost-gate.ts";
import { bookOf } from "./dollar-bounds.ts";
import type { Asked } from "./gate.ts";
import { paidJudge, paysForAnswers } from "./judge-bounds.ts";

// What reads YAML is loaded only for a plan in which something could cost dollars.
const require = createRequire(import.meta.url);

/** The prices of `--price` and the limit of `--max-cost`, which holds even with `--yes`. */
export function runPurse(options: CostOptions): RunPurse | Diagnostic {
  const prices = options.price ?? [];
  const book = prices.length > 0 && bookOf(prices);
  if (book && "code" in book) return book;
  const limits = costLimits(options);
  if ("code" in limits) return limits;
  return { prices, ...(options.maxCost !== undefined && { maxDollars: limits.dollars }) };
}

/** Attempts whose dollars are limited and that may call a model without a known price. */
export function priceGate({
  starts,
  sources,
  purse,
  command,
}: Pick<Asked, "starts" | "sources" | "purse" | "command">): Check[] {
  const capped = purse.maxDollars !== undefined;
  const limited = starts.filter((instance) => isLimited(instance, capped));
  if (limited.length === 0) return [];
  const prices = bookOf(purse.prices);
  if ("code" in prices) return [missing("prices", prices.message, prices.help ?? "", { code: prices.code })];
  const unknownOf = (instance: Instance) => unpriced(modelsOf(instance), prices);
  const [first, ...more] = limited.filter((instance) => unknownOf(instance).length > 0);
  if (!first) return [];
  const unknown = unknownOf(first);
  const { dollars } = first.action.budget;
  const limit = dollars === undefined ? "under --max-cost" : `at most ${dollars} dollars`;
  const kind = first.stage.durable ? "attempt" : "stage";
  const others = more.length > 0 ? `, ${counted(more.length, `more ${kind}`)} likewise` : "";
  const names = unknown.map(({ provider, id }) => `${provider} ${id}`).join(", ");
  const place = placeOf(first, unknown[0]!.id, sources);
  return [
    missing(
      "prices",
      `${first.id} may spend ${limit}${others}, but no price of ${names} is known: the limit could not be enforced`,
      priceHelp([first, ...more].flatMap(unknownOf), command),
      { code: "no-price", ...(place && { place }) },
    ),
  ];
}

function modelsOf(instance: Instance): AgentModel[] {
  if (instance.stage.durable) return agentModels(instance.action.params);
  const judge = paidJudge(instance);
  return judge ? [{ ...judge, free: false }] : [];
}

/** Whether the dollars of an attempt, or of a judge's answers, are limited. */
function isLimited(instance: Instance, capped: boolean): boolean {
  const { durable } = instance.stage;
  return durable
    ? capped || instance.action.budget.dollars !== undefined
    : capped && paysForAnswers(instance);
}

/** Where the preset names the model. */
function placeOf({ stage, axes }: Instance, id: string, sources: Sources) {
  const kind = stage.durable ? "agent" : "judge";
  if (axes[kind] === undefined) return undefined;
  const { readManifest } = require("@mlrb/core/spec/manifest") as typeof import("@mlrb/core/spec/manifest");
  const preset = readManifest(kind, String(axes[kind]), sources);
  if (preset === undefined || Array.isArray(preset)) return undefined;
  const { gateway = [] } = preset.value;
  const entry = gateway.findIndex(({ ids }) => ids.includes(id));
  if (entry < 0) return preset.place(["model", "id"]);
  return preset.place(["gateway", entry, "ids", gateway[entry]!.ids.indexOf(id)]);
}
