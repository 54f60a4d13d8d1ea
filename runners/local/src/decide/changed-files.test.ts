import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { changedSince, seenNow } from "./changed-files.ts";
import { Consulted, type StatSnapshot } from "./consulted-files.ts";

function repository(t: TestContext) {
  const path = mkdtempSync(join(tmpdir(), "changed-since-"));
  t.after(() => rmSync(path, { recursive: true }));
  const write = (file: string, text: string) => {
    mkdirSync(join(path, file, ".."), { recursive: true });
    writeFileSync(join(path, file), text);
  };
  write("tasks/a/task.yaml", "a");
  write("tasks/a/prompts/one.md", "one");
  const consulted = new Consulted(path);
  consulted.file("tasks/a/task.yaml");
  consulted.file("tasks/a/missing.py");
  consulted.file("tasks/a/task.yaml/below-a-file.yaml");
  consulted.folder("tasks");
  consulted.pattern("tasks/a/prompts/*.md");
  const seen: StatSnapshot = {
    stats: Object.fromEntries(consulted.files),
    folders: Object.fromEntries(consulted.folders),
    patterns: Object.fromEntries(consulted.patterns),
  };
  return { path, write, seen };
}

test("only an edit of a consulted file is a change", (t) => {
  const { path, write, seen } = repository(t);
  assert.deepEqual(changedSince(path, seen), []);
  write("tasks/a/README.md", "read by no stage");
  write("notes.txt", "");
  assert.deepEqual(changedSince(path, seen), []);
});

test("a changed, added or removed file is named once with its kind of change", (t) => {
  const { path, write, seen } = repository(t);
  write("tasks/a/task.yaml", "another");
  write("tasks/a/missing.py", "");
  write("tasks/b/task.yaml", "");
  write("tasks/a/prompts/two.md", "");
  rmSync(join(path, "tasks/a/prompts/one.md"));
  assert.deepEqual(changedSince(path, seen), [
    { path: "tasks/a/missing.py", how: "added" },
    { path: "tasks/a/prompts/one.md", how: "removed" },
    { path: "tasks/a/prompts/two.md", how: "added" },
    { path: "tasks/a/task.yaml", how: "changed" },
    { path: "tasks/b", how: "added" },
  ]);
  assert.deepEqual(changedSince(path, seenNow(path, seen)), []);
});

test("a file that an editor replaced by another of the same size counts as changed", (t) => {
  const { path, write, seen } = repository(t);
  write("tasks/a/.task.yaml.new", "b");
  renameSync(join(path, "tasks/a/.task.yaml.new"), join(path, "tasks/a/task.yaml"));
  assert.deepEqual(changedSince(path, seen), [{ path: "tasks/a/task.yaml", how: "changed" }]);
});
