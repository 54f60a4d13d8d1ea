// The formats of end.json and stop.json in an attempt's folder, and of cause.json in that of one that gave no record.

import { anyText, nullable, number, oneOf, openObject, type TypeOf, wholeObject } from "../schema.ts";
import { executionResult } from "../stage/outcome.ts";
import { attemptCost } from "./attempt-record.ts";
import { lastSpending } from "./last-spending.ts";

const endCause = {
  ...wholeObject({
    kind: {
      ...oneOf("stopped", "terminated", "supervisor-lost", "disk-full", "host-gone", "failed"),
      description:
        "stopped: a person asked for it. terminated: its supervisor was told to end by SIGTERM, since a container, a job or the machine was stopped. supervisor-lost: its supervisor is gone without a word. host-gone: its host was declared gone (--take-over). failed: its stage failed, the detail says how.",
    },
    detail: { ...anyText, description: "in words, for people" },
  }),
  description: "why it ended without a record: not the agent's doing, whichever it is",
} as const;
export type EndCause = TypeOf<typeof endCause>;

/** By its supervisor: the last thing that one writes. */
export const attemptEnd = openObject(
  { formatVersion: { const: 1 }, result: executionResult, durationMs: number, cause: endCause },
  ["formatVersion", "result", "durationMs"],
);
export type AttemptEnd = TypeOf<typeof attemptEnd>;

export const stopRequest = openObject(
  { by: { ...anyText, description: "who asked that it is stopped" } },
  [],
);

export const quarantineCause = wholeObject({
  formatVersion: { const: 1 },
  cause: endCause,
  durationMs: { ...number, description: "from its start to its end, or to the last sign of it" },
  cost: attemptCost,
  spending: { ...nullable(lastSpending), description: "model calls, by its meter; null where it had none" },
});
export type Quarantine = TypeOf<typeof quarantineCause>;
