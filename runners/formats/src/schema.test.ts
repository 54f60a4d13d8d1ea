import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFormat } from "./read-format.ts";
import { closedObject, eitherType, listOf, oneOf, orNull, text } from "./schema.ts";

const cause = (schema: object, value: unknown) => {
  const reading = checkFormat(schema, value);
  return reading.kind === "unreadable" ? reading.cause : "ok";
};

test("a value of either type follows the rules of its type, and for any other the cause names both types", () => {
  const axis = eitherType(listOf(text), closedObject({ of: text }, ["of"]));
  assert.equal(cause(axis, ["a"]), "ok");
  assert.equal(cause(axis, { of: "task" }), "ok");
  assert.equal(cause(axis, { from: "task" }), "of is missing");
  assert.equal(cause(axis, [1]), "0 is 1, not a text");
  assert.match(cause(axis, 3), /^the file is 3, not a list or an object$/);
});

test("a nullable schema is otherwise unchanged", () => {
  const schema = closedObject({ way: orNull(oneOf("up", "down")), name: orNull(text) }, []);
  assert.equal(cause(schema, { way: null, name: null }), "ok");
  assert.match(cause(schema, { way: "left" }), /^way is "left", not one of up, down/);
  assert.equal(cause(schema, { name: "" }), "name is empty");
});
