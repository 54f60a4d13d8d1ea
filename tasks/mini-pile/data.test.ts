import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeData, readRows, sharedParagraphs } from "../testing/made-data.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-mini-pile-"));
const [first, second] = [join(temporary, "first"), join(temporary, "second")];
before(() => {
  for (const folder of [first, second]) {
    const made = makeData("mini-pile", { source: "smoke", folder });
    assert.equal(made.status, 0, made.stderr);
  }
});
after(() => rmSync(temporary, { recursive: true }));

test("two runs write the same bytes", () => {
  for (const file of ["public/train.jsonl", "public/README.md", "private/heldout.jsonl"])
    assert.ok(readFileSync(join(first, file)).equals(readFileSync(join(second, file))), file);
});

test("the public data has MiniPile's only field, and no other files", () => {
  const rows = readRows<object>(join(first, "public/train.jsonl"));
  assert.deepEqual(new Set(rows.flatMap((row) => Object.keys(row))), new Set(["text"]));
  assert.deepEqual(readdirSync(join(first, "public")).sort(), ["README.md", "train.jsonl"]);
});

test("no held-out text is in the public data", () => {
  const train = readRows<{ text: string }>(join(first, "public/train.jsonl"));
  const heldOut = readRows<{ id: string; text: string }>(join(first, "private/heldout.jsonl"));
  assert.deepEqual([train.length, heldOut.length], [400, 25]);
  const open = new Set(train.flatMap(({ text }) => text.split("\n")));
  for (const { id, text } of heldOut) assert.deepEqual(sharedParagraphs(text, open), [], id);
});

test("an unknown kind of data is refused by name, and official data without its downloads", () => {
  const unknown = makeData("mini-pile", { source: "other", folder: join(temporary, "other") });
  assert.notEqual(unknown.status, 0);
  assert.match(
    unknown.stderr,
    /mini-pile: no data for source "other": only "smoke" and "official" are built so far/,
  );
  const made = makeData("mini-pile", { source: "official", folder: join(temporary, "official") });
  assert.notEqual(made.status, 0);
  assert.match(made.stderr, /official data is made of downloads: name their manifest/);
});
