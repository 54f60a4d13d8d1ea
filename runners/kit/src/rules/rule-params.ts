// The parameters of a stage that judges attempts by their task's rules.

import { taskManifest } from "@mlrb/formats/declared/task";
import { checkFormat } from "@mlrb/formats/read-format";
import { openObject, type TypeOf, text } from "@mlrb/formats/schema";
import type { Json } from "../stage.ts";

const format = openObject(
  {
    rules: taskManifest.properties.rules,
    data: { ...text, description: "the kind of data whose rules apply" },
  },
  ["rules", "data"],
);

/** Throws with the problem and the way out. */
export function ruleParams(params: Record<string, Json>): TypeOf<typeof format> {
  // a copy, since reading an undeclared param of a stage throws
  const reading = checkFormat(format, { ...params });
  if (reading.kind === "ok") return reading.value;
  throw new Error(
    `the stage's params: ${reading.cause}\n  help: rules are those of task.yaml; data is the kind of data, e.g. data: smoke`,
  );
}
