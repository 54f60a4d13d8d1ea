// The format of a line of caps/RUN.jsonl: the file in which the attempts of a run share its dollar limit.
import * as t from "../schema.ts";

export const spendingCapLine = {
  anyOf: [
    t.wholeObject({ maxDollars: t.about(t.number, "the limit from this line on") }),
    t.wholeObject({ dollars: t.about(t.amount, "spent by a call") }),
    t.wholeObject({
      attempt: t.anyText,
      held: t.about(t.amount, "maximum cost of its calls in flight, without the most expensive"),
      pid: { type: "integer" },
    }),
  ],
} as const;
