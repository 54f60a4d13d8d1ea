// The format of purse.json in an attempt's folder: the spending that the command line allows.
import { anyText, listOf, nullable, openObject, type TypeOf } from "../schema.ts";

const cap = {
  ...nullable(anyText),
  description: "the file in which all attempts of a run record their spending; null: no cap",
} as const;

const carryingRun = openObject(
  {
    run: anyText,
    prices: { ...listOf(anyText), description: "from its command line: MODEL=INPUT/OUTPUT" },
  },
  ["run", "prices"],
);

export const purse = {
  anyOf: [
    openObject({ formatVersion: { const: 1 }, cap }, ["formatVersion", "cap"]),
    openObject(
      {
        formatVersion: { const: 2 },
        runs: { ...listOf(carryingRun), description: "the runs that carried the attempt, newest first" },
        cap,
      },
      ["formatVersion", "runs", "cap"],
    ),
  ],
} as const;

export type CarryingRun = TypeOf<typeof carryingRun>;
