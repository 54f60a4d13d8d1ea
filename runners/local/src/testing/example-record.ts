// Records and cards of attempts that follow their formats, for tests that are about something else.

import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptEnd } from "@mlrb/formats/attempt/attempt-end";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { KeyParts } from "@mlrb/formats/stage/action";

export const exampleParts: KeyParts = {
  keyFormat: 1,
  run: { kind: "script", file: "" },
  code: {},
  files: {},
  params: {},
  axes: {},
  inputs: {},
  outputs: {},
  env: {},
  budget: {},
  environment: null,
  host: null,
};

export const exampleRecord: AttemptRecord = {
  formatVersion: 1,
  slot: { pipeline: "p", profile: "q", stage: "attempt" },
  axes: {},
  attemptKey: "key",
  parts: exampleParts,
  given: [],
  outputs: {},
  harness: {},
  cost: { gpuHours: 0, dollars: null },
  ran: { run: "r", startedAt: "2026-01-01T00:00:00.000Z", durationMs: 1, executor: "local", host: "h" },
};

export const exampleCard: AttemptCard = {
  formatVersion: 1,
  run: "r",
  by: { host: "h", boot: "", pid: 1, started: "" },
  startedAt: "2026-01-01T00:00:00.000Z",
  slot: exampleRecord.slot,
  axes: {},
  key: "key",
  parts: exampleParts,
  given: [],
  gives: [],
  harness: {},
  gpus: 0,
  secrets: [],
  executor: "local",
};

export const exampleEnd: AttemptEnd = { formatVersion: 1, result: { kind: "succeeded" }, durationMs: 1 };
