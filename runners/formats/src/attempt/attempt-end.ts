// The formats of end.json and stop.json in an attempt's folder, and of cause.json of an attempt without a record.

import * as t from "../schema.ts";
import { executionResult } from "../stage/outcome.ts";
import { attemptCost } from "./attempt-record.ts";
import { lastSpending } from "./last-spending.ts";

const endCause = t.about(
  t.wholeObject({
    kind: t.about(
      t.oneOf("stopped", "terminated", "supervisor-lost", "disk-full", "host-gone", "failed"),
      "stopped: a person asked for it. terminated: its supervisor got SIGTERM, because a container, a job or the machine was stopped. supervisor-lost: its supervisor ended without a message. host-gone: its host was declared gone (--take-over). failed: its stage failed; see detail.",
    ),
    detail: t.about(t.anyText, "in words, for people"),
  }),
  "why it ended without a record; never the agent's fault",
);
export type EndCause = t.TypeOf<typeof endCause>;

/** The last file that a supervisor writes. */
export const attemptEnd = t.wholeExcept(["cause"], {
  formatVersion: { const: 1 },
  result: executionResult,
  durationMs: t.number,
  cause: endCause,
});
export type AttemptEnd = t.TypeOf<typeof attemptEnd>;

export const stopRequest = t.openObject({ by: t.about(t.anyText, "who asked to stop it") }, []);

export const quarantineCause = t.wholeObject({
  formatVersion: { const: 1 },
  cause: endCause,
  durationMs: t.about(t.number, "from its start to its end, or to its last sign of life"),
  cost: attemptCost,
  spending: t.about(t.nullable(lastSpending), "model calls, by its meter; null without a meter"),
});
export type Quarantine = t.TypeOf<typeof quarantineCause>;
