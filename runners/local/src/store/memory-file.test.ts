import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MemoryFile } from "./memory-file.ts";

function fileIn(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-memory-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "one.json");
}

const open = (path: string) => new MemoryFile<{ names: Record<string, string> }>(path, 1, { names: {} });

test("a saved memory is read by the next process", (t) => {
  const path = fileIn(t);
  const one = open(path);
  one.value.names.a = "b";
  one.change();
  one.save();
  assert.deepEqual(open(path).value.names, { a: "b" });
});

test("an unchanged memory is not written", (t) => {
  const path = fileIn(t);
  const one = open(path);
  assert.deepEqual(one.value, { names: {} });
  one.save();
  assert.equal(existsSync(path), false);
});

for (const [state, text] of [
  ["missing", undefined],
  ["torn", '{"formatVersion":1,"names":{"a"'],
  ["of another version", '{"formatVersion":2,"names":{"a":"b"}}'],
  ["null", "null"],
  ["without its tables", '{"formatVersion":1,"names":null}'],
] as const)
  test(`a memory that is ${state} is empty`, (t) => {
    const path = fileIn(t);
    if (text !== undefined) writeFileSync(path, text);
    assert.deepEqual(open(path).value, { names: {} });
  });

test("a memory creates its folder", (t) => {
  const path = join(fileIn(t), "../inside/two.json");
  const one = open(path);
  one.change();
  one.save();
  assert.match(readFileSync(path, "utf8"), /"formatVersion":1/);
});

test("a memory that cannot be written costs only time", (t) => {
  const path = fileIn(t);
  writeFileSync(path, "");
  const one = open(join(path, "two.json"));
  one.change();
  assert.doesNotThrow(() => one.save());
});
