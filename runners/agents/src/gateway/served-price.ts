// Prices an answer by the model and the tier that its provider names, not by what was asked for. Pure.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Pricing } from "../spending/call-charge.ts";
import type { PriceBook } from "../spending/prices.ts";
import type { HeardAnswer } from "./answer/heard-answer.ts";
import type { GatewayProvider } from "./gateway-provider.ts";

export type GatewayPrices = Pick<PriceBook, "dollarsOf" | "hasOwnPrice" | "mostDollarsOf">;

type Served = Partial<Pick<HeardAnswer, "answeredBy" | "surcharge">>;

/** `model`: the requested one. `served`: undefined before the answer. */
export function servedPrice(
  { provider, model }: { provider: Pick<GatewayProvider, "name" | "free">; model: string },
  { dollarsOf, hasOwnPrice, mostDollarsOf }: GatewayPrices,
  served?: Served,
): Pricing {
  if (provider.free) return { priced: () => 0 };
  const by = (name: string): Pricing => ({ priced: (usage) => dollarsOf(usage, provider.name, name) });
  const isKnown = (name: string) => by(name).priced(oneToken) !== null;
  const { answeredBy = null, surcharge } = served ?? {};
  if (surcharge === undefined) {
    if (answeredBy === null || bareName(answeredBy) === bareName(model)) return by(model);
    for (const name of [answeredBy, bareName(answeredBy)]) if (isKnown(name)) return by(name);
    if (isVersionOf(bareName(model), bareName(answeredBy))) return by(model);
    // behind a proxy, a name of the operator's own stands for a model of any name
    if (!authors.includes(provider.name) && hasOwnPrice(provider.name, model)) return by(model);
  }
  // a model that never had a price is not estimated either
  return isKnown(model) ? { priced: () => null, most: mostDollarsOf } : by(model);
}

const oneToken: ModelUsage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };

/** Without the vendor or folder that some servers write before it, e.g. `models/`. */
function bareName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Providers whose names of models are their own: another name is another model, with another price. */
const authors = ["openai", "anthropic", "google"];

/** Providers answer to an alias with the name of its version: `o3` by `o3-2025-04-16`. */
function isVersionOf(alias: string, name: string): boolean {
  const stem = alias.replace(/-(latest|0)$/u, "");
  if (name.startsWith(stem) && snapshot.test(name.slice(stem.length))) return true;
  return alias.endsWith("-latest") && addsOnlyVersion(stem.split("-"), name.split("-"));
}

const snapshot = /^[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|preview-\d{2}-\d{2}(-\d{4})?)$/u;
const versionWord = /^\d+(\.\d+)*$|^preview$/u;

/** `gemini-flash-lite-latest` by `gemini-2.5-flash-lite-preview-09-2025`. */
function addsOnlyVersion(stem: string[], name: string[]): boolean {
  if (stem.some((word) => versionWord.test(word))) return false; // a version of its own allows no other one
  const words = name.filter((word) => !versionWord.test(word));
  return words.length < name.length && words.join("-") === stem.join("-");
}
