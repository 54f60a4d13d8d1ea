import assert from "node:assert/strict";
import { test } from "node:test";
import { score } from "@mlrb/formats/judged/score";
import { verdict } from "@mlrb/formats/judged/verdict";
import { readPlain } from "./read-plain.ts";

const head = { formatVersion: 1, scorer: "s", version: 1, unit: "u", direction: "lower" };
const hostile = "\u001b[31mred\u202e\ntext";

test("every text and every table name of a file is made plain", () => {
  const rule = {
    rule: hostile,
    title: hostile,
    answer: "pass",
    evidence: hostile,
    source: "official",
    severity: "note",
  };
  const text = JSON.stringify({
    formatVersion: 1,
    kind: "pass",
    rules: [rule],
    facts: { [hostile]: hostile, n: 1 },
  });
  const reading = readPlain(verdict, text);
  assert.ok(reading.kind === "ok");
  const plain = { ...rule, rule: "red text", title: "red text", evidence: "red text" };
  assert.deepEqual(reading.value.rules, [plain]);
  assert.deepEqual(reading.value.facts, { "red text": "red text", n: 1 });
});

test("only declared fields of a file's own variant are kept", () => {
  const text = JSON.stringify({
    ...head,
    kind: "rejected",
    reason: "r",
    value: { deep: [hostile] },
    more: hostile,
  });
  assert.deepEqual(readPlain(score, text), {
    kind: "ok",
    value: { ...head, kind: "rejected", reason: "r" },
  });
});

test("`__proto__` is an ordinary name", () => {
  const scored = { kind: "scored", value: 1, standardError: 0, items: 1, groups: {} };
  const text = JSON.stringify({ ...head, ...scored, extra: 0 }).replace(
    '"extra":0',
    '"extra":{"__proto__":2}',
  );
  const reading = readPlain(score, text);
  assert.ok(reading.kind === "ok" && reading.value.kind === "scored");
  assert.deepEqual(Object.entries(reading.value.extra), [["__proto__", 2]]);
});

test("a cause is plain text, and a long name does not hide the reason", () => {
  const groups = { ["g".repeat(5000)]: { value: hostile, items: 1 } };
  const scored = { kind: "scored", value: 1, standardError: 0, items: 1, groups, extra: {} };
  assert.deepEqual(readPlain(score, JSON.stringify({ ...head, ...scored })), {
    kind: "unreadable",
    cause: `groups.${"g".repeat(80)}.value is "\\u001b[31mred\\ntext", not a finite number`,
  });
});
