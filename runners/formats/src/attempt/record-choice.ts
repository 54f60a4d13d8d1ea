// A line of attempts/choices.jsonl: a person's decision between records that compete for one attempt.

import { fileFormat, listOf, sha256, type TypeOf, text, wholeObject } from "../schema.ts";

export const recordChoice = fileFormat(
  "mlrb choice between attempt records",
  wholeObject({
    formatVersion: { const: 1 },
    chosenAt: text,
    record: { ...sha256, description: "the record to use" },
    over: { ...listOf(sha256), description: "the records that competed with it then" },
  }),
);
export type RecordChoice = TypeOf<typeof recordChoice>;
