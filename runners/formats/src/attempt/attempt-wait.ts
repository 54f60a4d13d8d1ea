// The format of waiting.json in an attempt's folder: its current waits.

import * as t from "../schema.ts";
import { failureOwner } from "./failure-owner.ts";
import { modelCause } from "./model-cause.ts";
import { waitReason } from "./team-events.ts";

const time = t.about(t.anyText, "ISO 8601");

const attemptWait = t.wholeObject({
  why: waitReason,
  cause: modelCause,
  whose: failureOwner,
  detail: t.about(t.anyText, "what the provider or the connection said"),
  since: time,
  nextTry: t.orNull(t.about(time, "null: only when a person resumes it")),
  giveUpAt: t.orNull(t.about(time, "when the attempt ends as not measured if nothing changes; null: never")),
});

export const attemptWaits = t.wholeObject({
  formatVersion: { const: 1 },
  waits: t.about(t.listOf(attemptWait), "waits for a person first, then the oldest"),
});

export type AttemptWait = t.TypeOf<typeof attemptWait>;
