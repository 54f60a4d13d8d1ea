// The format of purse.json in an attempt's folder: what the command line said that the attempt may spend.
import { anyText, listOf, nullable, openObject, type TypeOf } from "../schema.ts";

const cap = {
  ...nullable(anyText),
  description:
    "the file in which all attempts of a run write down what they spend; null: nothing caps this one",
} as const;

const carryingRun = openObject(
  {
    run: anyText,
    prices: { ...listOf(anyText), description: "as its command line said them: MODEL=INPUT/OUTPUT" },
  },
  ["run", "prices"],
);

export const purse = {
  anyOf: [
    openObject({ formatVersion: { const: 1 }, cap }, ["formatVersion", "cap"]),
    openObject(
      {
        formatVersion: { const: 2 },
        runs: { ...listOf(carryingRun), description: "those that carried the attempt, the newest first" },
        cap,
      },
      ["formatVersion", "runs", "cap"],
    ),
  ],
} as const;

export type CarryingRun = TypeOf<typeof carryingRun>;
