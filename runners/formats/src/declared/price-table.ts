// The format of runners/agents/prices.yaml, the prices of providers. The first lines of that file explain an
// entry.

import { rates } from "../attempt/used-price.ts";
import * as t from "../schema.ts";

const price = t.closedObject(
  {
    provider: t.text,
    models: { ...t.list, minItems: 1 },
    asOf: t.about(
      { type: "string", pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$" },
      "the date of the last visit to the page",
    ),
    source: t.about(
      { type: "string", pattern: "^(https://\\S+|authored: .+)$" },
      "a page of the provider, or what an authored price is for",
    ),
    ...rates,
    above: t.about(
      t.closedObject({ inputTokens: t.positiveInteger, ...rates }, ["inputTokens", "input", "output"]),
      "for requests with more input tokens than this",
    ),
  },
  ["provider", "models", "asOf", "source", "input", "output"],
);

export const priceTable = t.fileFormat(
  "mlrb price table",
  t.closedObject({ formatVersion: { const: 1 }, prices: t.listOf(price) }, ["formatVersion", "prices"]),
);

export type Price = t.TypeOf<typeof price>;
