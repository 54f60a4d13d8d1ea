// The formats of end.json and stop.json in an attempt's folder, and of cause.json of an attempt without a record.

import {
  anyText,
  nullable,
  number,
  oneOf,
  openObject,
  type TypeOf,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { executionResult } from "../stage/outcome.ts";
import { attemptCost } from "./attempt-record.ts";
import { lastSpending } from "./last-spending.ts";

const endCause = {
  ...wholeObject({
    kind: {
      ...oneOf("stopped", "terminated", "supervisor-lost", "disk-full", "host-gone", "failed"),
      description:
        "stopped: a person asked for it. terminated: its supervisor got SIGTERM, because a container, a job or the machine was stopped. supervisor-lost: its supervisor ended without a message. host-gone: its host was declared gone (--take-over). failed: its stage failed; see detail.",
    },
    detail: { ...anyText, description: "in words, for people" },
  }),
  description: "why it ended without a record; never the agent's fault",
} as const;
export type EndCause = TypeOf<typeof endCause>;

/** The last file that a supervisor writes. */
export const attemptEnd = wholeExcept(["cause"], {
  formatVersion: { const: 1 },
  result: executionResult,
  durationMs: number,
  cause: endCause,
});
export type AttemptEnd = TypeOf<typeof attemptEnd>;

export const stopRequest = openObject({ by: { ...anyText, description: "who asked to stop it" } }, []);

export const quarantineCause = wholeObject({
  formatVersion: { const: 1 },
  cause: endCause,
  durationMs: { ...number, description: "from its start to its end, or to its last sign of life" },
  cost: attemptCost,
  spending: { ...nullable(lastSpending), description: "model calls, by its meter; null without a meter" },
});
export type Quarantine = TypeOf<typeof quarantineCause>;
