// How a stage's execution or an attempt ended. Journal lines and end.json hold it.
import * as t from "../schema.ts";

const failureCause = t.about(
  t.oneOf(
    "exit-code",
    "time-limit",
    "out-of-memory",
    "missing-output",
    "code-changed",
    "operator",
    "machine",
  ),
  "exit-code: its program ended with a status other than 0, or by a foreign signal. missing-output: it ended with 0 and lacks an output. code-changed: its code changed while it ran, so its result belongs to no key. operator: only a person can fix it, e.g. a key that the provider refuses; a retry changes nothing. machine: it could not be started, or its result could not be kept.",
);
export type FailureCause = t.TypeOf<typeof failureCause>;

export const executionResult = t.kindsOf(
  t.wholeExcept(["where"], {
    kind: { const: "succeeded" },
    where: t.about(t.tableOf(t.anyText), "environment for its provenance, e.g. image, engine"),
  }),
  t.variant("failed", { cause: failureCause, detail: t.anyText }),
  t.variant("cancelled"),
);
export type ExecutionResult = t.TypeOf<typeof executionResult>;
