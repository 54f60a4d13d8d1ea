import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { eventLines, type RareEvent } from "./event-lines.ts";

const instance = { id: "attempt[seed=1]" } as Instance;
const owner = { host: "gpu2", boot: "b", pid: 17, started: "5" };

const lines: [RareEvent, string[]][] = [
  [
    { kind: "taken-over", instance, owner, silentMs: 600_000 },
    ["took    attempt[seed=1]  from process 17 on gpu2, silent for 10 m 0 s"],
  ],
  [
    { kind: "adopted", instance, since: "2026-01-01T00:00:00.000Z", underCap: true },
    ["goes on attempt[seed=1]  (begun 2026-01-01T00:00:00.000Z by a run that is gone)"],
  ],
  [
    { kind: "adopted", instance, since: undefined, underCap: false },
    [
      "goes on attempt[seed=1]  (begun by a run that is gone)",
      "warning: attempt[seed=1] was begun by an older mlrb without --max-cost and cannot be put under this run's: only its own budget limits it",
    ],
  ],
  [
    { kind: "undeclared", instance, what: "it read a.txt", help: "files: [a.txt]" },
    ["undeclared: it read a.txt, so no key holds it; files: [a.txt]"],
  ],
  [{ kind: "retried", instance, detail: "no space", remade: false }, ["again   attempt[seed=1]  (no space)"]],
  [
    { kind: "retried", instance, detail: "a blob is gone", remade: true },
    ["again   attempt[seed=1]  (a blob is gone; it is made anew)"],
  ],
  [
    { kind: "gpu-left-out", instance, gpu: { index: 0, uuid: "GPU-1" }, why: "7 memory errors" },
    ["left out GPU 0 (GPU-1): 7 memory errors"],
  ],
];

for (const [event, said] of lines)
  test(`a run says of ${event.kind}: ${said[0]!.slice(0, 40)}`, () =>
    assert.deepEqual(eventLines(event), said));
