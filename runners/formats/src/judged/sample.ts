// A line of samples.jsonl: one item of a score, with everything that recomputing the score needs. Files have
// millions of lines.
import * as t from "../schema.ts";

export const sample = t.wholeExcept(["group", "cluster"], {
  id: t.anyText,
  group: t.about(t.anyText, "items of one group may be independent"),
  cluster: t.about(t.anyText, "items of one cluster are not independent"),
  value: t.about(t.number, "the score is the sum of values divided by the sum of weights"),
  weight: { ...t.number, minimum: 0 },
});
