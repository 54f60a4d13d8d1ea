// The format of purse.json in an attempt's folder: the spending that the command line allows.
import { anyText, listOf, nullable, type TypeOf, wholeObject } from "../schema.ts";

const cap = {
  ...nullable(anyText),
  description: "the file in which all attempts of a run record their spending; null: no cap",
} as const;

const carryingRun = wholeObject({
  run: anyText,
  prices: { ...listOf(anyText), description: "from its command line: MODEL=INPUT/OUTPUT[/CACHED]" },
});

export const purse = {
  anyOf: [
    wholeObject({ formatVersion: { const: 1 }, cap }),
    wholeObject({
      formatVersion: { const: 2 },
      runs: { ...listOf(carryingRun), description: "the runs that carried the attempt, newest first" },
      cap,
    }),
  ],
} as const;

export type CarryingRun = TypeOf<typeof carryingRun>;
