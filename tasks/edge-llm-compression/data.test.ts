import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brownDocuments } from "../brown/brown.ts";
import { makeData, readRows, sharedParagraphs } from "../testing/made-data.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-compression-"));
const [first, second] = [join(temporary, "first"), join(temporary, "second")];
before(() => {
  for (const folder of [first, second]) {
    const made = makeData("edge-llm-compression", { source: "smoke", folder });
    assert.equal(made.status, 0, made.stderr);
  }
});
after(() => rmSync(temporary, { recursive: true }));

test("two runs write the same bytes", () => {
  for (const file of ["public/train.jsonl", "public/README.md", "private/heldout.jsonl", "private/cost.json"])
    assert.ok(readFileSync(join(first, file)).equals(readFileSync(join(second, file))), file);
});

test("no part of a held-out text, in its full length, is in the public data", () => {
  const heldOut = lines<{ id: string; text: string }>("private/heldout.jsonl");
  const calibration = lines<{ text: string }>("public/train.jsonl").map(({ text }) => text);
  assert.deepEqual([calibration.length, heldOut.length], [80, 25]);
  const whole = new Map(brownDocuments().map(({ filename, content }) => [filename, content]));
  const paragraphs = new Set(calibration.flatMap((text) => text.split("\n")));
  for (const { id, text } of heldOut) {
    const content = whole.get(id)!;
    assert.ok(content.startsWith(text), id);
    assert.ok(!calibration.includes(content), id);
    assert.ok(!calibration.some((other) => other.includes(text.slice(0, 80))), id);
    assert.deepEqual(sharedParagraphs(content, paragraphs), [], id);
  }
});

test("a held-out text is exactly one window of the scorer", () => {
  for (const { id, text } of lines<{ id: string; text: string }>("private/heldout.jsonl"))
    assert.equal(Buffer.byteLength(text), 96, id);
});

test("an unknown kind of data is refused by name, and official data without its downloads", () => {
  const unknown = makeData("edge-llm-compression", { source: "other", folder: join(temporary, "other") });
  assert.notEqual(unknown.status, 0);
  assert.match(
    unknown.stderr,
    /edge-llm-compression: no data for source "other": only "smoke" and "official" are built so far/,
  );
  const made = makeData("edge-llm-compression", { source: "official", folder: join(temporary, "official") });
  assert.notEqual(made.status, 0);
  assert.match(made.stderr, /official data is made of downloads: name their manifest/);
});

function lines<T>(file: string): T[] {
  return readRows<T>(join(first, file));
}
