// Prices an answer by the model and the tier that its provider names, not by what was asked for. Pure.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Pricing } from "../model/call-charge.ts";
import type { GatewayProvider } from "./gateway-provider.ts";
import type { HeardAnswer } from "./heard-answer.ts";

export type GatewayPrices = {
  /** By the name of the provider and of the model; null without a known price. */
  dollarsOf(usage: ModelUsage, provider: string, model: string): number | null;
  /** At the highest known price of any model; null if none is known. */
  mostDollarsOf(usage: ModelUsage): number | null;
};

type Served = Partial<Pick<HeardAnswer, "answeredBy" | "surcharge">>;

/** `model`: the requested one. `served`: undefined before the answer. */
export function servedPrice(
  { provider, model }: { provider: Pick<GatewayProvider, "name" | "free">; model: string },
  { dollarsOf, mostDollarsOf }: GatewayPrices,
  served?: Served,
): Pricing {
  if (provider.free) return { priced: () => 0 };
  const by = (name: string): Pricing => ({ priced: (usage) => dollarsOf(usage, provider.name, name) });
  const isKnown = (name: string) => by(name).priced(oneToken) !== null;
  const { answeredBy = null, surcharge } = served ?? {};
  if (surcharge === undefined) {
    if (answeredBy === null || bareName(answeredBy) === bareName(model)) return by(model);
    for (const name of [answeredBy, bareName(answeredBy)]) if (isKnown(name)) return by(name);
    if (isSnapshotOf(bareName(model), bareName(answeredBy))) return by(model);
  }
  // a model that never had a price is not estimated either
  return isKnown(model) ? { priced: () => null, most: mostDollarsOf } : by(model);
}

const oneToken: ModelUsage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };

/** Without the vendor or folder that some servers write before it, e.g. `models/`. */
function bareName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Providers answer to an alias with the name of its version: `o3` by `o3-2025-04-16`. */
function isSnapshotOf(alias: string, name: string): boolean {
  const version = /^[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|preview-\d{2}-\d{2}(-\d{4})?)$/u;
  return name.startsWith(alias) && version.test(name.slice(alias.length));
}
