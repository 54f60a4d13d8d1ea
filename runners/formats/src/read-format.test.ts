import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sample } from "./judged/sample.ts";
import { score } from "./judged/score.ts";
import { checkFormat, followsFormat, mustFollow, readFormat } from "./read-format.ts";
import { closedObject, count, listOf, nullable, openObject, tableOf, text } from "./schema.ts";

const run = openObject({ formatVersion: { const: 1 }, name: text, seeds: listOf(count) }, [
  "formatVersion",
  "name",
  "seeds",
]);

const cause = (schema: object, value: unknown) => {
  const reading = readFormat(schema, JSON.stringify(value));
  return reading.kind === "unreadable" ? reading.cause : "ok";
};

test("a file that follows its format is read whole, including fields of later versions", () => {
  const value = { formatVersion: 1, name: "a", seeds: [1], later: true };
  assert.deepEqual(readFormat(run, JSON.stringify(value)), { kind: "ok", value });
});

for (const [what, value, expected] of [
  ["a missing field", { formatVersion: 1, name: "a" }, "seeds is missing"],
  ["another format", { formatVersion: 2, name: "a", seeds: [] }, "formatVersion is 2, not 1"],
  ["a wrong type", { formatVersion: 1, name: 3, seeds: [] }, "name is 3, not a text"],
  ["a wrong item", { formatVersion: 1, name: "a", seeds: [1, "b"] }, 'seeds.1 is "b", not a whole number'],
  ["no object", [], "the file is a list, not an object"],
  ["an empty text", { formatVersion: 1, name: "", seeds: [] }, "name is empty"],
] as const)
  test(`the cause names the place: ${what}`, () => assert.equal(cause(run, value), expected));

test("a text that is not JSON is reported as such", () => {
  const reading = readFormat(run, '{"name": ');
  assert.match(reading.kind === "unreadable" ? reading.cause : "", /^not JSON: /);
});

test("a number that overflows is not a number", () => {
  const reading = readFormat(openObject({ value: { type: "number" } }, ["value"]), '{"value": 1e999}');
  assert.deepEqual(reading, { kind: "unreadable", cause: "value is Infinity, not a finite number" });
});

test("for a union the cause is that of the variant that the file names", () => {
  const score = {
    type: "object",
    discriminator: { propertyName: "kind" },
    required: ["kind"],
    oneOf: [
      openObject({ kind: { const: "scored" }, value: { type: "number" } }, ["kind", "value"]),
      openObject({ kind: { const: "rejected" }, reason: text }, ["kind", "reason"]),
    ],
  } as const;
  assert.equal(cause(score, { kind: "scored", value: "0.5" }), 'value is "0.5", not a finite number');
  assert.equal(cause(score, { kind: "rejected" }), "reason is missing");
  assert.equal(cause(score, { kind: "lost" }), 'kind is "lost", not one of scored, rejected');
  assert.equal(cause(score, {}), "kind is missing");
});

test("for a union without names the cause is that of the nearest variant, or all allowed types", () => {
  const row = {
    type: "object",
    oneOf: [
      openObject({ value: { type: "number" } }, ["value"]),
      openObject({ rejected: text }, ["rejected"]),
    ],
  } as const;
  assert.equal(cause(listOf(row), [{}]), "0.value is missing");
  assert.equal(cause(listOf(row), [{ rejected: 5 }]), "0.rejected is 5, not a text");
  assert.equal(
    cause(listOf(row), [{ value: 1, rejected: "x" }]),
    "0 has value and rejected, and may have one of them",
  );
  assert.equal(
    cause(openObject({ a: nullable(count) }, []), { a: "x" }),
    'a is "x", not a whole number or null',
  );
});

test("for a file of another version the version is the cause, whatever else differs", () => {
  assert.equal(cause(run, { formatVersion: 2 }), "formatVersion is 2, not 1");
  assert.equal(cause(run, {}), "formatVersion is missing");
});

test("for a union without a tag the cause is that of the variant with the value's type", () => {
  const long = openObject({ head: text }, ["head"]);
  const union = openObject({ value: nullable({ anyOf: [text, long] }), at: nullable(count) }, []);
  assert.equal(cause(union, { at: -1 }), "at is -1: it must be >= 0");
  assert.equal(cause(union, { at: "soon" }), 'at is "soon", not a whole number or null');
  assert.equal(cause(union, { value: {} }), "value.head is missing");
  assert.equal(cause(union, { value: 1 }), "value is 1, not a text or an object or null");
});

test("an undeclared key of a closed object is refused, also `__proto__`", () => {
  const closed = closedObject({ a: nullable(count) }, []);
  assert.equal(cause(closed, { a: null, b: 1 }), "b is not known");
  const reading = readFormat(tableOf(count), '{"__proto__": "x"}');
  assert.deepEqual(reading, { kind: "unreadable", cause: '__proto__ is "x", not a whole number' });
});

test("the validators with and without messages agree on every value", () => {
  const texts = fc.constantFrom("", "a", "scored", "rejected");
  const numbers = fc.oneof(fc.integer(), fc.double());
  const leaf = fc.oneof(texts, numbers, fc.constant(null));
  const some = (keys: string[]) =>
    fc.dictionary(fc.constantFrom(...keys), fc.oneof(leaf, fc.dictionary(texts, leaf)));
  const lines = some(["id", "value", "weight", "group", "cluster"]);
  const scores = some([
    "formatVersion",
    "kind",
    "value",
    "standardError",
    "items",
    "groups",
    "extra",
    "reason",
  ]);
  fc.assert(
    fc.property(fc.oneof(lines, scores), (value) => {
      for (const schema of [sample, score, nullable(score)])
        assert.equal(checkFormat(schema, value).kind === "ok", followsFormat(schema)(value));
    }),
  );
});

test("malformed data of this program itself throws with its name", () => {
  assert.throws(
    () => mustFollow(run, { formatVersion: 1 }, "the stage's context"),
    /^Error: the stage's context: name is missing$/,
  );
});
