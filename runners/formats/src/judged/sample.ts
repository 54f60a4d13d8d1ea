// A line of samples.jsonl: one item of a score, with everything that recomputing the score needs. Files have millions
// of lines.
import { anyText, number, wholeExcept } from "../schema.ts";

export const sample = wholeExcept(["group", "cluster"], {
  id: anyText,
  group: { ...anyText, description: "items of one group may be independent" },
  cluster: { ...anyText, description: "items of one cluster are not independent" },
  value: { ...number, description: "the score is the sum of values divided by the sum of weights" },
  weight: { ...number, minimum: 0 },
});
