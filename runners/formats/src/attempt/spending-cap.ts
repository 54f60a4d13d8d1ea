// The format of a line of caps/RUN.jsonl: the file in which the attempts of a run share its limit of dollars.
import { anyText, openObject } from "../schema.ts";

const amount = { type: "number", minimum: 0 } as const;

export const spendingCapLine = {
  anyOf: [
    openObject({ maxDollars: { type: "number", description: "the limit from here on" } }, ["maxDollars"]),
    openObject({ dollars: { ...amount, description: "spent by a call" } }, ["dollars"]),
    openObject(
      {
        attempt: anyText,
        held: { ...amount, description: "what its calls in flight can cost at most, without the dearest" },
        pid: { type: "integer" },
      },
      ["attempt", "held", "pid"],
    ),
  ],
} as const;
