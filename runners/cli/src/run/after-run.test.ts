import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { afterRun } from "./after-run.ts";

const none = { succeeded: 0, reused: 0, failed: 0, skipped: 0, cancelled: 0 };
const asked = { pipeline: "hello", options: { profile: "paper", only: ["score"], root: "/scratch" } };

function commands(
  counts: Partial<typeof none>,
  more: { leftStale?: number; report?: Report; rescoredSince?: string } = {},
): string[] {
  const ended = { counts: { ...none, ...counts }, leftStale: 0, published: true, report: undefined, ...more };
  return afterRun(ended, asked).map(({ command }) => command);
}

test("after failures the next steps are the same run and, for several failures, the status", () => {
  const again = "pnpm pipeline run hello --profile paper --only score --root /scratch";
  assert.deepEqual(commands({ failed: 1, succeeded: 3 }), [again]);
  assert.deepEqual(commands({ failed: 2, cancelled: 3 }), [again, again.replace("run", "status")]);
});

test("the next step after an interrupted run is the same run", () => {
  assert.deepEqual(commands({ cancelled: 3 }), [
    "pnpm pipeline run hello --profile paper --only score --root /scratch",
  ]);
});

test("the next steps with stale attempts are --rerun and --accept-stale with a reason", () => {
  const run = "pnpm pipeline run hello --profile paper --only score --root /scratch";
  assert.deepEqual(commands({ skipped: 5 }, { leftStale: 2 }), [
    `${run} --rerun`,
    `${run} --accept-stale "reason"`,
  ]);
});

test("the next steps after success are the tables and the trace of the first number", () => {
  const cells = [
    { task: "a", metric: "m", agent: "x", primary: true, mean: null },
    { task: "b", metric: "n", agent: "an agent", primary: true, mean: 0 },
  ];
  assert.deepEqual(commands({ succeeded: 3 }, { report: { cells } as Report }), [
    "pnpm pipeline report hello --profile paper --root /scratch",
    "pnpm pipeline trace b n 'an agent' --pipeline hello --profile paper --root /scratch",
  ]);
});

test("after a success that rescored submissions, the comparison with the earlier run is the first next step", () => {
  assert.deepEqual(commands({ succeeded: 3 }, { rescoredSince: "20260101T000000Z-a" }), [
    "pnpm pipeline report hello --profile paper --root /scratch --against 20260101T000000Z-a",
    "pnpm pipeline report hello --profile paper --root /scratch",
  ]);
});
