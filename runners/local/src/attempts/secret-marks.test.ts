import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { knowsSecrets, markSecrets } from "./secret-marks.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-marks-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("a program that knows one of two values of a secret does not know them all", (t) => {
  const folder = folderOf(t);
  markSecrets(folder, { KEY: "the first value" });
  assert.equal(knowsSecrets(folder, { KEY: "the first value" }), true);
  markSecrets(folder, { KEY: "the second value" });
  assert.equal(knowsSecrets(folder, { KEY: "the first value" }), false);
  assert.equal(knowsSecrets(folder, { KEY: "the second value" }), false);
  assert.equal(knowsSecrets(folder, { ONE: "the first value", OTHER: "the second value" }), true);
});

test("an attempt without marks, or with a torn mark, has unknown secrets, and one without values has none", (t) => {
  const folder = folderOf(t);
  assert.equal(knowsSecrets(folder, {}), false);
  markSecrets(folder, {});
  assert.equal(knowsSecrets(folder, {}), true);
  appendFileSync(join(folder, "secret-marks.jsonl"), '{"formatVersion":1,"sal');
  assert.equal(knowsSecrets(folder, {}), false);
});

test("a mark holds nothing of its value, and differs each time", (t) => {
  const folder = folderOf(t);
  for (let at = 0; at < 2; at++) markSecrets(folder, { KEY: "a value" });
  const [one, other] = readFileSync(join(folder, "secret-marks.jsonl"), "utf8").split("\n");
  assert.doesNotMatch(one!, /a value/);
  assert.notEqual(one, other);
});
