// The cost of model calls, by prices.yaml. An unlisted price is unknown, never zero: budgets in dollars and
// columns of costs depend on that.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { UsedPrice } from "@mlrb/formats/attempt/used-price";
import { type Price, priceTable } from "@mlrb/formats/declared/price-table";
import { checkFormat } from "@mlrb/formats/read-format";
import { parse } from "yaml";

type Rates = Pick<Price, "input" | "cached" | "cacheWrite" | "output">;

const path = fileURLToPath(new URL("../../prices.yaml", import.meta.url));
let kept: PriceTable | undefined;

/** By provider and model: see `keyOf`. */
export type PriceTable = ReadonlyMap<string, Price>;

export type PriceBook = ReturnType<typeof priceBook>;

/** A price from a command line is for any provider of the model, and has no date. */
type AnyPrice = Rates & { source: string } & Partial<Pick<Price, "above" | "asOf">>;

/** Prices of command lines, the newest run first; `run` is null before a run has them. */
export type SaidPrices = { run: string | null; prices: string[] };

/**
 * Prices of command lines, then those of the table. `MODEL=INPUT/OUTPUT` is in dollars for a million tokens;
 * `MODEL=INPUT/OUTPUT/CACHED` has a price for input from a cache, which otherwise costs as much as other input.
 * `claude-*=3/15` holds for every name with that prefix unless a longer one fits. Throws with a way out.
 */
export function priceBook(said: readonly SaidPrices[], table: PriceTable = readTable()) {
  const runs = said.map(saidPrices);
  const used = new Map<string, UsedPrice>();
  const findSaid = (model: string) =>
    runs.map((own) => own.find(({ fits }) => fits(model))).find((one) => one !== undefined);
  const find = (provider: string, model: string): AnyPrice | undefined =>
    findSaid(model)?.price ?? table.get(keyOf(provider, model));
  return {
    /** Undefined if unknown. */
    priceOf: find,
    /** Whether the price that holds was given for exactly this name, not for a prefix of it. */
    hasOwnPrice: (provider: string, model: string) => {
      const said = findSaid(model);
      return said ? said.id === model : table.has(keyOf(provider, model));
    },
    /** In US dollars; null without a known price. */
    dollarsOf(usage: ModelUsage, provider: string, model: string) {
      const price = find(provider, model);
      if (price !== undefined && !used.has(keyOf(provider, model)))
        used.set(keyOf(provider, model), usedPrice({ provider, model, price }));
      return costOf(usage, price);
    },
    /** At the highest known price of any model; null if none is known. */
    mostDollarsOf(usage: ModelUsage) {
      const charged = [...table.values()].filter(({ source }) => !source.startsWith("authored:"));
      const prices = [...runs.flat().map(({ price }) => price), ...charged];
      const most = Math.max(...prices.map((price) => costOf(usage, price) ?? 0));
      return prices.length > 0 ? most : null;
    },
    /** The prices that `dollarsOf` used so far, each once, for the ledger. */
    used: () => [...used.values()],
  };
}

export function usedPrice(of: { provider: string; model: string; price: AnyPrice }): UsedPrice {
  const { provider, model, price } = of;
  const { above, asOf, source } = price;
  return {
    ...{ provider, model, source },
    ...ratesOf(price),
    ...(above !== undefined && { above: { inputTokens: above.inputTokens, ...ratesOf(above) } }),
    ...(asOf !== undefined && { asOf }),
  };
}

function ratesOf({ input, cached, cacheWrite, output }: Rates) {
  return {
    ...{ input, output },
    ...(cached !== undefined && { cached }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** Exact names first, then the longest prefix. */
function saidPrices({ run, prices }: SaidPrices) {
  const own = prices.map((text) => saidPrice(text, run));
  const twice = own.find(({ id }, index) => own.findIndex((one) => one.id === id) < index);
  if (twice) throw new Error(`--price: two prices for ${twice.id}; give one`);
  const length = ({ id }: { id: string }) => (id.endsWith("*") ? id.length - 1 : Number.POSITIVE_INFINITY);
  return own.sort((a, b) => length(b) - length(a) || 0); // two exact names: NaN
}

function saidPrice(text: string, run: string | null) {
  const [, named = "", ...amounts] = /^(.+)=([\d.]+)\/([\d.]+)(?:\/([\d.]+))?$/u.exec(text.trim()) ?? [];
  const id = named.trim();
  const [input = Number.NaN, output = Number.NaN, cached] = amounts.filter(Boolean).map(Number);
  if (id === "" || ![input, output, cached ?? 0].every(Number.isFinite))
    throw new Error(
      `--price ${text}: write MODEL=INPUT/OUTPUT in dollars for a million tokens, e.g. gpt-5.1-codex=1.25/10, or MODEL=INPUT/OUTPUT/CACHED`,
    );
  if (cached !== undefined && cached > input)
    throw new Error(
      `--price ${text}: cached input is dearer than other input; the order is INPUT/OUTPUT/CACHED`,
    );
  const rates = { input, output, ...(cached !== undefined && { cached }) };
  const price: AnyPrice = { ...rates, source: run === null ? "--price" : `--price of run ${run}` };
  const fits = (model: string) => (id.endsWith("*") ? model.startsWith(id.slice(0, -1)) : id === model);
  return { id, fits, price };
}

/** prices.yaml, cached unless `fresh`. */
export function readTable({ fresh = false } = {}): PriceTable {
  if (fresh || kept === undefined) kept = readPrices(readFileSync(path, "utf8"), path);
  return kept;
}

/** Throws with the place of the mistake. */
export function readPrices(text: string, place: string): Map<string, Price> {
  // dates stay text
  const reading = checkFormat(priceTable, parse(text, { schema: "core" }));
  if (reading.kind === "unreadable")
    throw new Error(`${place}: ${reading.cause}; its first lines say what an entry holds`);
  const byModel = new Map<string, Price>();
  for (const price of reading.value.prices)
    for (const model of price.models) {
      const key = keyOf(price.provider, model);
      if (byModel.has(key))
        throw new Error(`${place}: ${price.provider} ${model} has two prices; keep the newer one`);
      byModel.set(key, price);
    }
  return byModel;
}

export function costOf(usage: ModelUsage, price: AnyPrice | undefined): number | null {
  if (price === undefined) return null;
  const { above } = price;
  const rates: Rates = above !== undefined && usage.inputTokens > above.inputTokens ? above : price;
  const cached = usage.cachedInputTokens ?? 0;
  const written = usage.cacheWrittenTokens ?? 0;
  const plain = Math.max(0, usage.inputTokens - cached - written);
  const millionths =
    plain * rates.input +
    cached * (rates.cached ?? rates.input) +
    written * (rates.cacheWrite ?? 2 * rates.input) +
    usage.outputTokens * rates.output;
  return millionths / 1e6;
}

function keyOf(provider: string, model: string): string {
  return `${provider} ${model}`;
}
