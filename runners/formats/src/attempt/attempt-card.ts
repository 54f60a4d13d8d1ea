// The format of attempt.json in the folder of a running attempt: everything that its record needs besides its outputs.

import { anyText, count, list, listOf, type TypeOf, text, wholeExcept, wholeObject } from "../schema.ts";
import { axisValues, keyParts } from "../stage/action.ts";
import { artifactKind } from "../stage/artifact.ts";
import { processOwner } from "../stage/process-owner.ts";
import {
  costEstimate,
  fileName,
  given,
  harness,
  protocol,
  slot,
  uncheckedFields,
  uncheckedNames,
} from "./attempt-record.ts";

export const attemptCard = wholeExcept(["estimate", "protocol", ...uncheckedNames], {
  formatVersion: { const: 1 },
  run: { ...anyText, description: "the run that started it" },
  by: { ...processOwner, description: "that run's process" },
  startedAt: anyText,
  slot,
  axes: axisValues,
  key: text,
  parts: keyParts,
  given,
  gives: listOf(wholeObject({ name: anyText, file: fileName, kind: artifactKind })),
  harness,
  gpus: count,
  secrets: {
    ...list,
    description: "names of its secrets: its log is redacted before it is kept",
  },
  executor: anyText,
  estimate: costEstimate,
  protocol,
  ...uncheckedFields,
});
export type AttemptCard = TypeOf<typeof attemptCard>;
