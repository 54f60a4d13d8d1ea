// The format of runners/agents/prices.yaml, the prices of providers. The first lines of that file explain an entry.

import { rates } from "../attempt/used-price.ts";
import { closedObject, fileFormat, list, listOf, type TypeOf, text } from "../schema.ts";

const price = closedObject(
  {
    provider: text,
    models: { ...list, minItems: 1 },
    asOf: {
      type: "string",
      pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$",
      description: "the date of the last visit to the page",
    },
    source: { type: "string", pattern: "^https://\\S+$", description: "a page of the provider" },
    ...rates,
    above: {
      ...closedObject({ inputTokens: { type: "integer", minimum: 1 }, ...rates }, [
        "inputTokens",
        "input",
        "output",
      ]),
      description: "for requests with more input tokens than this",
    },
  },
  ["provider", "models", "asOf", "source", "input", "output"],
);

export const priceTable = fileFormat(
  "mlrb price table",
  closedObject({ formatVersion: { const: 1 }, prices: listOf(price) }, ["formatVersion", "prices"]),
);

export type Price = TypeOf<typeof price>;
