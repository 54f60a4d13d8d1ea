import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalJson } from "./json-file.ts";

/** What it must equal, by JSON.stringify's own means. */
function plainly(value: unknown, indent?: number): string {
  const sorted = (_: string, one: unknown) =>
    one === null || typeof one !== "object" || Array.isArray(one)
      ? one
      : Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(value, sorted, indent);
}

test("canonical JSON equals JSON.stringify with sorted keys", () => {
  const value = fc.anything({ withDate: true, withNullPrototype: true, maxDepth: 4 });
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (one, indent) => {
      let expected: string;
      try {
        expected = plainly(one, indent);
      } catch {
        assert.throws(() => canonicalJson(one, indent));
        return;
      }
      try {
        assert.equal(canonicalJson(one, indent), expected);
      } catch (error) {
        assert.match((error as Error).message, /not a number that JSON can hold/);
      }
    }),
    { numRuns: 2000 },
  );
});

test("equal tables give equal text for any order of keys", () => {
  assert.equal(canonicalJson({ b: 1, a: { d: [], c: "é" } }), canonicalJson({ a: { c: "é", d: [] }, b: 1 }));
  assert.equal(
    canonicalJson({ a10: 1, a9: 2, 10: 3, 9: 4, "09": 5 }),
    '{"9":4,"10":3,"09":5,"a10":1,"a9":2}',
  );
});

test("a value that JSON lacks is refused by name, never turned into null", () => {
  assert.throws(() => canonicalJson({ score: Number.NaN }), /score is NaN/);
  assert.throws(() => canonicalJson({ all: [1, Number.NEGATIVE_INFINITY] }), /1 is -Infinity/);
});
