// The format of waiting.json in an attempt's folder: its current waits.

import { anyText, listOf, orNull, type TypeOf, wholeObject } from "../schema.ts";
import { failureOwner } from "./failure-owner.ts";
import { modelCause } from "./model-cause.ts";
import { waitReason } from "./trajectory.ts";

const time = { ...anyText, description: "ISO 8601" } as const;

const attemptWait = wholeObject({
  why: waitReason,
  cause: modelCause,
  whose: failureOwner,
  detail: { ...anyText, description: "what the provider or the connection said" },
  since: time,
  nextTry: orNull({ ...time, description: "null: only when a person resumes it" }),
  giveUpAt: orNull({
    ...time,
    description: "when the attempt ends as not measured if nothing changes; null: never",
  }),
});

export const attemptWaits = wholeObject({
  formatVersion: { const: 1 },
  waits: { ...listOf(attemptWait), description: "waits for a person first, then the oldest" },
});

export type AttemptWait = TypeOf<typeof attemptWait>;
