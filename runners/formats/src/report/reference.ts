// What was expected of a reference model and what it scored, in report.json.
import { anyText, flag, numberOrNull, type TypeOf, wholeObject } from "../schema.ts";

export const reference = wholeObject({
  task: anyText,
  metric: anyText,
  model: { ...anyText, description: "the name of its row" },
  value: { ...numberOrNull, description: "null: not scored" },
  standardError: numberOrNull,
  expected: { ...anyText, description: "what task.yaml expects, in words" },
  source: { ...anyText, description: "who reported it; empty where no range is known" },
  passed: flag,
  found: { ...anyText, description: "how the value compares, or why there is none" },
});
export type Reference = TypeOf<typeof reference>;
