// The format of purse.json in an attempt's folder: the spending that the command line allows.
import * as t from "../schema.ts";

const carryingRun = t.wholeObject({
  run: t.anyText,
  prices: t.about(t.listOf(t.anyText), "from its command line: MODEL=INPUT/OUTPUT[/CACHED]"),
});

export const purse = t.wholeObject({
  formatVersion: { const: 1 },
  runs: t.about(t.listOf(carryingRun), "the runs that carried the attempt, newest first"),
  cap: t.about(
    t.nullable(t.anyText),
    "the file in which all attempts of a run record their spending; null: no cap",
  ),
});
export type Purse = Pick<t.TypeOf<typeof purse>, "runs" | "cap">;
