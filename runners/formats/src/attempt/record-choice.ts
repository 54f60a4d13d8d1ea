// A line of attempts/choices.jsonl: a person's decision between records that compete for one attempt.

import * as t from "../schema.ts";

export const recordChoice = t.wholeFile("mlrb choice between attempt records", 1, {
  chosenAt: t.text,
  record: t.about(t.sha256, "the record to use"),
  over: t.about(t.listOf(t.sha256), "the records that competed with it then"),
});
export type RecordChoice = t.TypeOf<typeof recordChoice>;
