import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { eventLines, type RareEvent } from "./event-lines.ts";

const instance = { id: "attempt[seed=1]" } as Instance;
const owner = { host: "gpu2", boot: "b", pid: 17, started: "5" };

const lines: [RareEvent, string[]][] = [
  [
    { kind: "serving", instance, url: "http://127.0.0.1:43121" },
    ["serves  attempt[seed=1]  (at http://127.0.0.1:43121)"],
  ],
  [
    { kind: "taken-over", instance, owner, silentMs: 600_000 },
    ["took over attempt[seed=1]  from process 17 on gpu2, silent for 10 m 0 s"],
  ],
  [
    { kind: "adopted", instance, since: "2026-01-01T00:00:00.000Z" },
    ["adopted attempt[seed=1]  (started 2026-01-01T00:00:00.000Z by a run that has ended)"],
  ],
  [
    { kind: "adopted", instance, since: undefined },
    ["adopted attempt[seed=1]  (started by a run that has ended)"],
  ],
  [
    { kind: "undeclared", instance, what: "it read a.txt", help: "files: [a.txt]" },
    ["undeclared: it read a.txt, so no key holds it; files: [a.txt]"],
  ],
  [{ kind: "retried", instance, detail: "no space", remade: false }, ["retry   attempt[seed=1]  (no space)"]],
  [
    { kind: "retried", instance, detail: "a blob is gone", remade: true },
    ["retry   attempt[seed=1]  (a blob is gone; it is made again)"],
  ],
  [
    { kind: "gpu-left-out", instance, gpu: { index: 0, uuid: "GPU-1" }, why: "7 memory errors" },
    ["not used: GPU 0 (GPU-1): 7 memory errors"],
  ],
];

for (const [event, said] of lines)
  test(`the line of ${event.kind} is: ${said[0]!.slice(0, 40)}`, () =>
    assert.deepEqual(eventLines(event), said));
