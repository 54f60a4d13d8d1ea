// The format of a line of caps/RUN.jsonl: the file in which the attempts of a run share its dollar limit.
import { amount, anyText, wholeObject } from "../schema.ts";

export const spendingCapLine = {
  anyOf: [
    wholeObject({ maxDollars: { type: "number", description: "the limit from this line on" } }),
    wholeObject({ dollars: { ...amount, description: "spent by a call" } }),
    wholeObject({
      attempt: anyText,
      held: { ...amount, description: "maximum cost of its calls in flight, without the most expensive" },
      pid: { type: "integer" },
    }),
  ],
} as const;
