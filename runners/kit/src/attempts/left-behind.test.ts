import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { leftBehind } from "./left-behind.ts";

test("only lines between a restore point and the restart that went back to it are left behind", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "left-behind-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "trajectory.jsonl");
  const other = { event: "note", text: 'says "resumed"' };
  const events = [
    ...[other, other, other],
    { event: "resumed", after: 2 },
    other,
    { event: "resumed", after: 5 },
    ...[other, other],
    { event: "resumed", after: 4 },
  ];
  writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const isLeftBehind = await leftBehind(path);
  assert.deepEqual(
    events.flatMap((_, line) => (isLeftBehind(line) ? [line] : [])),
    [2, 4, 5, 6, 7],
  );
});
