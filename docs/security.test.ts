// Every promise of docs/security.md names a test that exists.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const text = readFileSync(join(import.meta.dirname, "security.md"), "utf8");
const rows = text
  .split("\n\n")
  .filter((block) => block.startsWith("| promise |"))
  .flatMap((table) => table.trimEnd().split("\n").slice(2))
  .map((line) => line.split(" | "));

test("docs/security.md has a row for each promise", () => {
  assert.ok(rows.length >= 50, `${rows.length} rows`);
});

for (const [promise, , shown] of rows)
  test(`a test shows: ${promise!.slice(2)}`, () => {
    const [, file, title] = /^`([^`]+)`(?:: "([^"]+)")? \|$/.exec(shown!) ?? [];
    assert.ok(file !== undefined, `not a test: ${shown}`);
    const path = join(import.meta.dirname, "..", file);
    assert.ok(existsSync(path), `no file ${file}`);
    if (title !== undefined)
      assert.ok(readFileSync(path, "utf8").includes(title), `${file} has no test "${title}"`);
  });
