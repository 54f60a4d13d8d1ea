// A line of attempts/choices.jsonl: a person's decision between records that compete for one attempt.

import { fileFormat, listOf, openObject, sha256, type TypeOf, text } from "../schema.ts";

export const recordChoice = fileFormat(
  "mlrb choice between attempt records",
  openObject(
    {
      formatVersion: { const: 1 },
      chosenAt: text,
      record: { ...sha256, description: "the record to use" },
      over: { ...listOf(sha256), description: "the records that competed with it then" },
    },
    ["formatVersion", "chosenAt", "record", "over"],
  ),
);
export type RecordChoice = TypeOf<typeof recordChoice>;
