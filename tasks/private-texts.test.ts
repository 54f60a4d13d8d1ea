// One private text in two tasks would count one luck twice in a mean over tasks, and a text that one task
// publishes could not be private in another.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { makeData, readRows } from "./testing/made-data.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-private-texts-"));
after(() => rmSync(temporary, { recursive: true }));

type Texts = { public: Set<string>; private: Set<string> };
const tasks = new Map<string, Texts>();

before(() => {
  for (const script of globSync("*/data.ts", { cwd: import.meta.dirname })) {
    const task = dirname(script);
    const folder = join(temporary, task);
    const made = makeData(task, { source: "smoke", folder });
    assert.equal(made.status, 0, made.stderr);
    tasks.set(task, {
      public: beginnings(join(folder, "public")),
      private: beginnings(join(folder, "private")),
    });
  }
});

test("no text is private in two tasks, or private in one task and public in another", () => {
  const withTexts = [...tasks].filter(([, texts]) => texts.private.size > 0);
  assert.ok(withTexts.length >= 6, `${withTexts.length} tasks with private texts`);
  for (const [task, { private: hidden }] of withTexts)
    for (const [other, texts] of tasks) {
      if (other === task) continue; // each task's own test, which knows what its rows may share
      assert.deepEqual([...hidden.intersection(texts.public)], [], `private in ${task}, public in ${other}`);
      assert.deepEqual([...hidden.intersection(texts.private)], [], `${task}, ${other}`);
    }
});

/** The first 60 characters of each line of text in a folder's rows; shorter lines ("No.") occur anywhere. */
function beginnings(folder: string): Set<string> {
  const rows = globSync("**/*.jsonl", { cwd: folder }).flatMap((file) =>
    readRows<object>(join(folder, file)),
  );
  return new Set(
    rows
      .flatMap(strings)
      .flatMap((text) => text.split("\n"))
      .filter((line) => line.length >= 60)
      .map((line) => line.slice(0, 60)),
  );
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(strings) : [];
}
