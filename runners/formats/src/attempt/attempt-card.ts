// The format of attempt.json in the folder of an attempt that goes on: all that a record of it needs besides what it
// gives.

import { anyText, count, list, listOf, openObject, type TypeOf, text, wholeObject } from "../schema.ts";
import { axisValues, keyParts } from "../stage/action.ts";
import { artifactKind } from "../stage/artifact.ts";
import { processOwner } from "../stage/process-owner.ts";
import { costEstimate, fileName, given, harness, slot } from "./attempt-record.ts";

export const attemptCard = openObject(
  {
    formatVersion: { const: 1 },
    run: { ...anyText, description: "the run that began it" },
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
      description: "names of what it was handed: its log is not to be kept as it is",
    },
    executor: anyText,
    estimate: costEstimate,
  },
  [
    "formatVersion",
    "run",
    "by",
    "startedAt",
    "slot",
    "axes",
    "key",
    "parts",
    "given",
    "gives",
    "harness",
    "gpus",
    "secrets",
    "executor",
  ],
);
export type AttemptCard = TypeOf<typeof attemptCard>;
