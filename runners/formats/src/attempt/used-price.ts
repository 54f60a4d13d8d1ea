// A price of a model, as runners/agents/prices.yaml, ledgers and trajectories hold it.
import { count, openObject, type TypeOf, anyText as text } from "../schema.ts";

const amount = { type: "number", minimum: 0 } as const;
export const rates = { input: amount, cached: amount, cacheWrite: amount, output: amount } as const;

export const usedPrice = {
  description: "dollars for a million tokens",
  ...openObject(
    {
      provider: text,
      model: text,
      ...rates,
      above: {
        ...openObject({ inputTokens: count, ...rates }, ["inputTokens", "input", "output"]),
        description: "for requests with more input tokens than this",
      },
      asOf: { ...text, description: "the date of the page" },
      source: { ...text, description: "a page of the provider, or `--price of run RUN`" },
    },
    ["provider", "model", "input", "output", "source"],
  ),
} as const;

export type UsedPrice = TypeOf<typeof usedPrice>;
