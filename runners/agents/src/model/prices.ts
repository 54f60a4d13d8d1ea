// What a model call cost, by prices.yaml. A price that nobody wrote down is unknown, never zero: a budget in dollars
// and a column of costs are worth nothing otherwise.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ModelUsage } from "@mlrb/core/trajectory-event";
import { parse } from "yaml";
import { z } from "zod";

const dollars = z.number().nonnegative();
const rates = { input: dollars, cached: dollars.optional(), cacheWrite: dollars.optional(), output: dollars };
const priced = z.strictObject({
  provider: z.string().min(1),
  models: z.array(z.string().min(1)).min(1),
  asOf: z.iso.date(),
  source: z.url({ protocol: /^https$/u }),
  ...rates,
  above: z.strictObject({ inputTokens: z.int().positive(), ...rates }).optional(),
});
const file = z.strictObject({ formatVersion: z.literal(1), prices: z.array(priced) });

export type Price = z.infer<typeof priced>;
type Rates = Pick<Price, "input" | "cached" | "cacheWrite" | "output">;

const path = fileURLToPath(new URL("../../prices.yaml", import.meta.url));
let kept: Map<string, Price> | undefined;

export type PriceBook = {
  /** When and from where the price of a model is; undefined where it is not known. */
  priceOf(provider: string, model: string): Price | undefined;
  /** In US dollars; null where the model's price is not known. */
  dollarsOf(usage: ModelUsage, provider: string, model: string): number | null;
};

/**
 * The prices of the table, and before them those that the command line said: `MODEL=INPUT/OUTPUT`, in dollars for a
 * million tokens, whoever serves it; `claude-*=3/15` is for all that begin so. Throws with what to write instead.
 */
export function priceBook(said: string[]): PriceBook {
  const own = said.map(saidPrice);
  const find = (provider: string, model: string) =>
    own.find(({ id }) => (id.endsWith("*") ? model.startsWith(id.slice(0, -1)) : id === model))?.price ??
    priceOf(provider, model);
  return {
    priceOf: find,
    dollarsOf: (usage, provider, model) => costOf(usage, find(provider, model)),
  };
}

function saidPrice(text: string): { id: string; price: Price } {
  const [, id = "", input = "", output = ""] = /^(.+)=([\d.]+)\/([\d.]+)$/u.exec(text.trim()) ?? [];
  const rates = { input: Number(input), output: Number(output) };
  if (id.trim() === "" || input === "" || !(rates.input >= 0) || !(rates.output >= 0))
    throw new Error(
      `--price ${text}: write MODEL=INPUT/OUTPUT in dollars for a million tokens, e.g. gpt-5.1-codex=1.25/10`,
    );
  const source = { provider: "command line", asOf: "said with --price", source: "--price" };
  return { id: id.trim(), price: { ...source, models: [id.trim()], ...rates } };
}

/** In US dollars; null where the model's price is not known. */
export function dollarsOf(usage: ModelUsage, provider: string, model: string): number | null {
  kept ??= readPrices(readFileSync(path, "utf8"), path);
  return costOf(usage, kept.get(keyOf(provider, model)));
}

/** When and from where the price of a model is; undefined where it is not known. */
export function priceOf(provider: string, model: string): Price | undefined {
  kept ??= readPrices(readFileSync(path, "utf8"), path);
  return kept.get(keyOf(provider, model));
}

/** Throws with the place of what is wrong. */
export function readPrices(text: string, place: string): Map<string, Price> {
  // dates stay text
  const read = file.safeParse(parse(text, { schema: "core" }));
  if (!read.success)
    throw new Error(`${place}: ${z.prettifyError(read.error)}; its first lines say what an entry holds`);
  const byModel = new Map<string, Price>();
  for (const price of read.data.prices)
    for (const model of price.models) {
      const key = keyOf(price.provider, model);
      if (byModel.has(key))
        throw new Error(`${place}: ${price.provider} ${model} has two prices; leave the newer one`);
      byModel.set(key, price);
    }
  return byModel;
}

export function costOf(usage: ModelUsage, price: Price | undefined): number | null {
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
