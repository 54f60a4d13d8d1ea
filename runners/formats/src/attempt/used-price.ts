// A price of a model, as runners/agents/prices.yaml, ledgers and trajectories hold it.
import { amount, count, type TypeOf, anyText as text, wholeExcept } from "../schema.ts";

export const rates = { input: amount, cached: amount, cacheWrite: amount, output: amount } as const;

export const usedPrice = {
  description: "dollars for a million tokens",
  ...wholeExcept(["cached", "cacheWrite", "above", "asOf"], {
    provider: text,
    model: text,
    ...rates,
    above: {
      ...wholeExcept(["cached", "cacheWrite"], { inputTokens: count, ...rates }),
      description: "for requests with more input tokens than this",
    },
    asOf: { ...text, description: "the date of the page" },
    source: { ...text, description: "a page of the provider, or `--price of run RUN`" },
  }),
} as const;

export type UsedPrice = TypeOf<typeof usedPrice>;
