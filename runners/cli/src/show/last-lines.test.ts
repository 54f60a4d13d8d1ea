import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lastLines } from "./last-lines.ts";

function of(text: string, count: number): string[] {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-lines-"));
  try {
    writeFileSync(join(folder, "log"), text);
    return lastLines(join(folder, "log"), count);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the last lines that are not empty are returned in order", () => {
  assert.deepEqual(of("one\n\ntwo\nthree\n\n", 2), ["two", "three"]);
});

test("a line that its program redrew counts once, in its last state", () => {
  assert.deepEqual(of("loading\n 1 %\r 2 %\r 3 %", 2), ["loading", " 3 %"]);
});

test("control sequences and long lines of a log are removed", () => {
  assert.deepEqual(of("\u001b[2Jgone\u0007 \u202eover\n", 1), ["gone   over"]);
  assert.equal(of("x".repeat(1_000_000), 5)[0]?.length, 400);
});

test("a missing file has no last lines", () => {
  assert.deepEqual(lastLines("/nowhere/at/all", 3), []);
});

test("an error before a long bar, or overwritten by one, is shown", () => {
  const bar = Array.from({ length: 5000 }, (_, at) => `train ${at}/5000 [${"#".repeat(at / 100)}]`).join(
    "\r",
  );
  assert.deepEqual(of(`Traceback\nOutOfMemory\n${bar}\nKilled\n`, 4).slice(0, 2), [
    "Traceback",
    "OutOfMemory",
  ]);
  assert.equal(of(`CUDA OOM\r${bar}\nKilled\n`, 3)[0], "CUDA OOM");
});
