import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeDataSet } from "./write-data-set.ts";

const sample = join(import.meta.dirname, "../../../..", "docs", "sample");

/** The committed sample as a results folder, and what the command writes to stderr. */
function results(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "data-set-"));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(sample, join(folder, "results"), { recursive: true });
  const errors: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => errors.push(text) > 0);
  t.mock.method(process.stdout, "write", () => true);
  return { folder, results: join(folder, "results"), set: join(folder, "a", "set"), errors };
}

test("a data set has the card, the report and the tables that the results have, byte for byte", (t) => {
  const { results: from, set } = results(t);
  assert.equal(writeDataSet(from, set, "run it"), 0);
  assert.deepEqual(readdirSync(set).sort(), ["README.md", "data", "report.json"]);
  for (const name of readdirSync(join(set, "data")))
    assert.deepEqual(readFileSync(join(set, "data", name)), readFileSync(join(from, name)), name);
  assert.ok(existsSync(join(set, "data", "summary.csv")));
  assert.match(readFileSync(join(set, "README.md"), "utf8"), /^---\nlicense: unknown\n/);
});

test("a folder with files is refused and keeps them, and an empty one is used", (t) => {
  const { results: from, set, errors } = results(t);
  mkdirSync(set, { recursive: true });
  assert.equal(writeDataSet(from, set, "run it"), 0);
  writeFileSync(join(set, "README.md"), "my own card");
  assert.equal(writeDataSet(from, set, "run it"), 1);
  assert.match(errors.join(""), /^exists: .* is not an empty folder\n {2}help: name a folder/);
  assert.equal(readFileSync(join(set, "README.md"), "utf8"), "my own card");
});

test("results without tables or without a report are refused with the command that makes them, and leave nothing", (t) => {
  const { folder, results: from, set, errors } = results(t);
  rmSync(join(from, "summary.csv"));
  assert.equal(writeDataSet(from, set, "pnpm pipeline run x"), 1);
  assert.match(errors.join(""), /no-tables: .*\n {2}help: pnpm pipeline run x/);
  rmSync(join(from, "report.json"));
  assert.equal(writeDataSet(from, set, "pnpm pipeline run x"), 1);
  assert.match(errors.join(""), /no-report: .*\n {2}help: pnpm pipeline run x/);
  assert.deepEqual(readdirSync(folder), ["results"]);
});
