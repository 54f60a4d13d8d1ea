import assert from "node:assert/strict";
import { test } from "node:test";
import type { Items } from "@mlrb/core/statistics/items";
import { parseSamples } from "@mlrb/report/read/samples/parse-samples";
import { withoutRowIds, withoutStateFolders } from "./redact-rows.ts";

const rows = [
  { id: "What is two and two?", group: "sums", cluster: "page 1", value: 0.1, weight: 1 },
  { id: "What is one and one?", value: 1e-7, weight: 2, answer: "two" },
  { id: "What is two and two?", group: "sums", value: -3, weight: 0 },
];
const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");

test("ids, groups and clusters become digests that are equal where the names are, and numbers stay", () => {
  const before = parseSamples(text);
  const after = parseSamples(withoutRowIds(text));
  assert.ok(before.kind === "ok" && after.kind === "ok");
  const numbers = ({ values, weights }: Items) => [values, weights];
  assert.deepEqual(numbers(after.value), numbers(before.value));
  const [first, second, third] = after.value.ids;
  assert.equal(first, third);
  assert.notEqual(first, second);
  assert.match(first!, /^[0-9a-f]{24}$/);
  assert.ok(!/two|sums|page/.test(withoutRowIds(text)));
});

test("a line that is no sample is replaced whole, and stays unreadable", () => {
  const redacted = withoutRowIds(`${text}a private row\n"another"\n`);
  assert.ok(!/private|another/.test(redacted), redacted);
  assert.equal(parseSamples(redacted).kind, "unreadable");
});

test("a journal loses the place of every state folder, and no other word", () => {
  const line = (folder: string) =>
    JSON.stringify({ log: `${folder}/journals/logs/a.log`, why: `gone: (${folder}/cache) and ROOT/.mlrb` });
  assert.equal(withoutStateFolders(line("/home/ann/work/.mlrb")), line("STATE"));
});
