// A price of a model, as runners/agents/prices.yaml, ledgers and trajectories hold it.
import * as t from "../schema.ts";

export const rates = { input: t.amount, cached: t.amount, cacheWrite: t.amount, output: t.amount } as const;

export const usedPrice = {
  description: "dollars for a million tokens",
  ...t.wholeExcept(["cached", "cacheWrite", "above", "asOf"], {
    provider: t.anyText,
    model: t.anyText,
    ...rates,
    above: t.about(
      t.wholeExcept(["cached", "cacheWrite"], { inputTokens: t.count, ...rates }),
      "for requests with more input tokens than this",
    ),
    asOf: t.about(t.anyText, "the date of the page"),
    source: t.about(t.anyText, "a page of the provider, or `--price of run RUN`"),
  }),
} as const;

export type UsedPrice = t.TypeOf<typeof usedPrice>;
