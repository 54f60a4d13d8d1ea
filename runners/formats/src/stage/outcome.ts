// How a stage's execution or an attempt ended. Journal lines and end.json hold it.
import { anyText, kindsOf, oneOf, type TypeOf, tableOf, wholeExcept, wholeObject } from "../schema.ts";

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
    "exit-code: its program ended with a status other than 0, or by a foreign signal. missing-output: it ended with 0 and lacks an output. code-changed: its code changed while it ran, so its result belongs to no key. operator: only a person can fix it, e.g. a key that the provider refuses; a retry changes nothing. machine: it could not be started, or its result could not be kept.",
} as const;
export type FailureCause = TypeOf<typeof failureCause>;

export const executionResult = kindsOf(
  wholeExcept(["where"], {
    kind: { const: "succeeded" },
    where: {
      ...tableOf(anyText),
      description: "environment for its provenance, e.g. image, engine",
    },
  }),
  wholeObject({ kind: { const: "failed" }, cause: failureCause, detail: anyText }),
  wholeObject({ kind: { const: "cancelled" } }),
);
export type ExecutionResult = TypeOf<typeof executionResult>;
