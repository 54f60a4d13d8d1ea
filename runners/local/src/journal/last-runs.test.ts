import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LastRuns } from "./last-runs.ts";

/** A folder in which pipeline p and profile smoke have written `text`. */
function written(t: TestContext, text: string): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-last-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "p"));
  const file = join(folder, "p", "smoke.jsonl");
  writeFileSync(file, text);
  return { folder, file };
}

const line = (id: string, key: string) => `${JSON.stringify({ durationMs: 5, id, key })}\n`;
const open = (folder: string) => new LastRuns(folder, "p", "smoke");

test("a reader leaves the file unchanged, even when torn and long, since a run may be writing it", (t) => {
  const text = `${line("a", "k").repeat(500)}{"id":"b"`;
  const { folder, file } = written(t, text);
  const { ino } = statSync(file);
  assert.equal(open(folder).get("a")?.key, "k");
  assert.equal(readFileSync(file, "utf8"), text);
  assert.equal(statSync(file).ino, ino);
});

test("a writer shortens a long file and keeps the lines that another run has added since", (t) => {
  const { folder, file } = written(t, line("a", "k").repeat(500));
  const last = open(folder);
  writeFileSync(file, line("b", "other"), { flag: "a" });
  last.put({ id: "c", key: "mine", durationMs: 5 });
  assert.deepEqual(readFileSync(file, "utf8"), line("a", "k") + line("b", "other") + line("c", "mine"));
});

test("a torn last line does not damage the next one", (t) => {
  const { folder } = written(t, `${line("a", "k")}{"id":"b"`);
  open(folder).put({ id: "c", key: "mine", durationMs: 5 });
  const again = open(folder);
  assert.deepEqual([again.get("a")?.key, again.get("b"), again.get("c")?.key], ["k", undefined, "mine"]);
});
