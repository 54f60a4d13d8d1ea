// The format of a line of caps/RUN.jsonl: the file in which the attempts of a run share its dollar limit.
import { anyText, openObject } from "../schema.ts";

const amount = { type: "number", minimum: 0 } as const;

export const spendingCapLine = {
  anyOf: [
    openObject({ maxDollars: { type: "number", description: "the limit from this line on" } }, [
      "maxDollars",
    ]),
    openObject({ dollars: { ...amount, description: "spent by a call" } }, ["dollars"]),
    openObject(
      {
        attempt: anyText,
        held: { ...amount, description: "maximum cost of its calls in flight, without the most expensive" },
        pid: { type: "integer" },
      },
      ["attempt", "held", "pid"],
    ),
  ],
} as const;
