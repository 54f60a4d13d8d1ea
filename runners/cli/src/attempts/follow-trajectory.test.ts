import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { FollowedTrajectory } from "./follow-trajectory.ts";

function scene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-follow-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "trajectory.jsonl");
  const followed = new FollowedTrajectory(path);
  return { path, next: () => followed.next().map((line) => [line.index, line.kind]) };
}

const line = (event: string) => `${JSON.stringify({ formatVersion: 1, event })}\n`;

test("each line is read once, when it is complete", (t) => {
  const { path, next } = scene(t);
  assert.deepEqual(next(), [], "before there is a file");
  writeFileSync(path, `${line("one")}${line("two").slice(0, 9)}`);
  assert.deepEqual(next(), [[0, "other"]]);
  assert.deepEqual(next(), []);
  appendFileSync(path, line("two").slice(9) + line("three"));
  assert.deepEqual(next(), [
    [1, "other"],
    [2, "other"],
  ]);
});

test("a line that is not JSON, or that has no end, is reported once and ends the reading", (t) => {
  const { path, next } = scene(t);
  writeFileSync(path, `${line("one")}{"cut\n${line("two")}`);
  assert.deepEqual(next(), [
    [0, "other"],
    [1, "broken"],
  ]);
  assert.deepEqual(next(), []);
  const endless = scene(t);
  writeFileSync(endless.path, "x".repeat(9 << 20));
  assert.deepEqual(endless.next(), [[0, "broken"]]);
  assert.deepEqual(endless.next(), []);
});
