// What a stage that weighs attempts by their task's rules is told of them.

import { taskManifest } from "@mlrb/formats/declared/task";
import { checkFormat } from "@mlrb/formats/read-format";
import { openObject, type TypeOf, text } from "@mlrb/formats/schema";
import type { Json } from "../stage.ts";

const format = openObject(
  {
    rules: taskManifest.properties.rules,
    data: { ...text, description: "the kind of data whose rules hold" },
  },
  ["rules", "data"],
);

/** Throws with what is wrong and where it is put right. */
export function ruleParams(params: Record<string, Json>): TypeOf<typeof format> {
  // a copy, since a stage's params refuse to be asked for what is not declared
  const reading = checkFormat(format, { ...params });
  if (reading.kind === "ok") return reading.value;
  throw new Error(
    `the stage's params: ${reading.cause}\n  help: rules are those of task.yaml; data is the kind of data, e.g. data: smoke`,
  );
}
