// The format of attempt.json in the folder of a running attempt: everything that its record needs besides its
// outputs.

import * as t from "../schema.ts";
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

export const attemptCard = t.wholeExcept(["estimate", "protocol", ...uncheckedNames], {
  formatVersion: { const: 1 },
  run: t.about(t.anyText, "the run that started it"),
  by: t.about(processOwner, "that run's process"),
  startedAt: t.anyText,
  slot,
  axes: axisValues,
  key: t.text,
  parts: keyParts,
  given,
  gives: t.listOf(t.wholeObject({ name: t.anyText, file: fileName, kind: artifactKind })),
  harness,
  gpus: t.count,
  secrets: t.about(t.list, "names of its secrets: its log is redacted before it is kept"),
  executor: t.anyText,
  estimate: costEstimate,
  protocol,
  ...uncheckedFields,
});
export type AttemptCard = t.TypeOf<typeof attemptCard>;
