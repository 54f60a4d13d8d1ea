import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lineChanges } from "./line-changes.ts";

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
