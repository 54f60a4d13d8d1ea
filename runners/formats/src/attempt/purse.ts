// The format of purse.json in an attempt's folder: the spending that the command line allows.
import { anyText, listOf, nullable, type TypeOf, wholeObject } from "../schema.ts";

const carryingRun = wholeObject({
  run: anyText,
  prices: { ...listOf(anyText), description: "from its command line: MODEL=INPUT/OUTPUT[/CACHED]" },
});

export const purse = wholeObject({
  formatVersion: { const: 2 },
  runs: { ...listOf(carryingRun), description: "the runs that carried the attempt, newest first" },
  cap: {
    ...nullable(anyText),
    description: "the file in which all attempts of a run record their spending; null: no cap",
  },
});
export type Purse = Pick<TypeOf<typeof purse>, "runs" | "cap">;
