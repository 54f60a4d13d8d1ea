import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clipChanges, lineChanges } from "./line-changes.ts";

const words = (before: string, after: string) =>
  lineChanges(before, after).map(({ kind, text }) => `${kind} ${text}`);

test("only the lines between the equal beginning and end are changed, with two equal lines around", () => {
  assert.deepEqual(words("a\nb\nc\nold\nd\ne\nf\n", "a\nb\nc\nnew\nmore\nd\ne\nf\n"), [
    "same b",
    "same c",
    "gone old",
    "new new",
    "new more",
    "same d",
    "same e",
  ]);
});

test("a new file has only new lines, and equal texts have none", () => {
  assert.deepEqual(words("", "a\nb\n"), ["new a", "new b"]);
  assert.ok(lineChanges("a\nb", "a\nb").every(({ kind }) => kind === "same"));
});

test("old and new lines are never lost or made up", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 8 });
  fc.assert(
    fc.property(text, text, (old, now) => {
      const changes = lineChanges(old.join("\n"), now.join("\n"));
      const of = (kind: string) => changes.filter((one) => one.kind === kind).length;
      assert.equal(old.length - of("gone"), now.length - of("new"));
    }),
  );
});

test("clipping keeps a change that is far behind, in its line or after many lines", () => {
  const clipped = (before: string, after: string) =>
    clipChanges(lineChanges(before, after), 60).map(({ kind, text }) => `${kind} ${text}`);
  const long = "x".repeat(1000);
  assert.deepEqual(clipped(`${long}1`, `${long}2`), [`gone …${"x".repeat(40)}1`, `new …${"x".repeat(40)}2`]);
  const many = "same\n".repeat(1000);
  assert.deepEqual(clipped(`${many}a\n`, `${many}b\n`), ["same same", "same same", "gone a", "new b"]);
});

test("clipped lines are counted, and those of one kind leave room for the other", () => {
  const old = Array.from({ length: 100 }, (_, at) => `old line ${at}`).join("\n");
  const clipped = clipChanges(lineChanges(`${old}\nend`, `new\nend`), 30);
  assert.deepEqual(clipped, [
    { kind: "gone", text: "old line 0" },
    { kind: "gone", text: "old line 1" },
    { kind: "gone", text: "old lin…" },
    { kind: "gone", text: "… 97 more lines" },
    { kind: "new", text: "new" },
    { kind: "same", text: "end" },
  ]);
});
