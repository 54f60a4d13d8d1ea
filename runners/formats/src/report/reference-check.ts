// What was expected of a reference model and what it scored, in report.json.
import * as t from "../schema.ts";

export const referenceCheck = t.wholeObject({
  task: t.anyText,
  metric: t.anyText,
  model: t.about(t.anyText, "the name of its row"),
  value: t.about(t.numberOrNull, "null: not scored"),
  standardError: t.numberOrNull,
  expected: t.about(t.anyText, "what task.yaml expects, in words"),
  source: t.about(t.anyText, "who reported it; empty where no range is known"),
  passed: t.flag,
  found: t.about(t.anyText, "how the value compares, or why there is none"),
});
export type ReferenceCheck = t.TypeOf<typeof referenceCheck>;
