// A line of samples.jsonl: one item of a score, with all that is needed to score anew. Files have millions of them.
import { anyText, number, openObject } from "../schema.ts";

export const sample = openObject(
  {
    id: anyText,
    group: { ...anyText, description: "items of one group may be independent" },
    cluster: { ...anyText, description: "items of one cluster are not independent" },
    value: { ...number, description: "the score is the sum of values by the sum of weights" },
    weight: { ...number, minimum: 0 },
  },
  ["id", "value", "weight"],
);
