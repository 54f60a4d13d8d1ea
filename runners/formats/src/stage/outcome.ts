// How a stage's execution and an attempt end. Lines of journals and ends of attempts hold it.
import { anyText, kindsOf, oneOf, openObject, type TypeOf, tableOf, wholeObject } from "../schema.ts";

const failureCause = {
  ...oneOf(
    "exit-code",
    "time-limit",
    "out-of-memory",
    "missing-output",
    "code-changed",
    "operator",
    "machine",
  ),
  description:
    "exit-code: its program ended with another status than 0, or by a signal that was not ours. missing-output: it ended well and did not write what it gives. code-changed: the code it ran from changed while it ran, so its result belongs to no key. operator: what only a person can mend, e.g. a key that its provider refuses; trying again changes nothing. machine: it could not be started, or its result could not be kept.",
} as const;
export type FailureCause = TypeOf<typeof failureCause>;

export const executionResult = kindsOf(
  {},
  [],
  [
    openObject(
      {
        kind: { const: "succeeded" },
        where: {
          ...tableOf(anyText),
          description: "in what it ran, for its provenance, e.g. image, engine",
        },
      },
      ["kind"],
    ),
    wholeObject({ kind: { const: "failed" }, cause: failureCause, detail: anyText }),
    wholeObject({ kind: { const: "cancelled" } }),
  ],
);
export type ExecutionResult = TypeOf<typeof executionResult>;
