import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@mlrb/kit/stage";
import fc from "fast-check";
import { anthropicRequest } from "./anthropic-request.ts";
import { chatRequest } from "./chat-request.ts";
import { googleCount, googleRequest } from "./google-request.ts";
import { rebuild } from "./rebuild.ts";
import { isObject, requestJson } from "./request-json.ts";
import { responsesRequest } from "./responses-request.ts";
import { either, number, type ObjectShape, object, opaque, type Shape, text } from "./shape.ts";

const walled = { network: false };
const shapes: [name: string, shape: ObjectShape][] = [
  ["Anthropic's messages", anthropicRequest],
  ["OpenAI's chat completions", chatRequest],
  ["OpenAI's responses", responsesRequest],
  ["Google's generateContent", googleRequest],
  ["Google's countTokens", googleCount],
];

/** Values that a shape takes. Undefined for fields that attempts without a network may not send. */
function honest(shape: Shape): fc.Arbitrary<unknown> | undefined {
  switch (shape.kind) {
    case "opaque":
    case "schema":
      return fc.jsonValue({ maxDepth: 2 });
    case "text":
    case "file-name":
      return fc.string();
    case "base64":
      return fc.base64String().map((data) => `iVBO${data}`);
    case "number":
      return fc.oneof(
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)),
      );
    case "flag":
      return fc.boolean();
    case "word":
      return fc.constantFrom(...shape.words);
    case "data-url":
      return fc.base64String().map((data) => `data:image/png;base64,iVBO${data}`);
    case "media-type":
      return fc.constantFrom("image/png", "application/pdf", "text/plain");
    case "list":
    case "table": {
      const inner = honest(shape.of);
      if (!inner) return undefined;
      return shape.kind === "list"
        ? fc.array(inner, { maxLength: 3 })
        : fc.dictionary(fc.string(), inner, { maxKeys: 3 });
    }
    case "object": {
      const fields = Object.entries(shape.fields).flatMap(([name, one]) => {
        const inner = honest(one);
        return inner ? [[name, inner] as const] : [];
      });
      return fc.record(Object.fromEntries(fields), { requiredKeys: Object.keys(shape.defaults ?? {}) });
    }
    case "variants": {
      const all = shape.of.flatMap(([type, one]) => {
        const inner = honest(one);
        const types = typeof type === "string" ? fc.constant(type) : fc.stringMatching(type);
        return inner
          ? [fc.tuple(types, inner).map(([name, value]) => ({ ...(value as object), type: name }))]
          : [];
      });
      return all.length > 0 ? fc.oneof(...all) : undefined;
    }
    case "either":
      return fc.oneof(...shape.of.flatMap((one) => honest(one) ?? []));
    case "barred":
    case "address":
    case "reaching":
      return undefined;
  }
}

const runs = { numRuns: 60 };
const copy = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, Json>;

function rebuilt(shape: ObjectShape, value: Json) {
  const result = rebuild(shape, value, walled);
  assert.ok(!("refused" in result), JSON.stringify(result));
  return result;
}

/** Objects whose fields a shape declares. */
function declaredObjects(
  shape: Shape,
  value: Json,
  found: Record<string, Json>[] = [],
): Record<string, Json>[] {
  if (shape.kind === "list" && Array.isArray(value))
    for (const one of value) declaredObjects(shape.of, one, found);
  if (shape.kind === "either")
    for (const one of shape.of)
      if ((one.kind === "list") === Array.isArray(value)) declaredObjects(one, value, found);
  if (!isObject(value)) return found;
  if (shape.kind === "variants") {
    const type = String(value.type ?? shape.absent);
    const entry = shape.of.find(([name]) => (typeof name === "string" ? name === type : name.test(type)));
    if (entry) declaredObjects(entry[1], value, found);
  }
  if (shape.kind !== "object") return found;
  if (!shape.closed && !shape.open) found.push(value);
  for (const [name, one] of Object.entries(shape.fields))
    if (value[name] !== undefined) declaredObjects(one, value[name], found);
  return found;
}

for (const [name, shape] of shapes) {
  const bodies = honest(shape)!.map(copy);

  test(`${name}: a body of declared fields leaves with equal values, and nothing is dropped`, () => {
    fc.assert(
      fc.property(bodies, (body) => {
        assert.deepEqual(rebuilt(shape, body), { body, dropped: [], reaches: [] });
      }),
      runs,
    );
  });

  test(`${name}: a field that nothing declares leaves from no depth, and is named`, () => {
    fc.assert(
      fc.property(bodies, fc.nat(), fc.string(), fc.jsonValue(), (body, place, key, value) => {
        const wanted = copy(body);
        const objects = declaredObjects(shape, body);
        const unknown = `Z${key}`;
        objects[place % objects.length]![unknown] = value as Json;
        const { body: sent, dropped } = rebuilt(shape, body);
        assert.deepEqual(sent, wanted);
        assert.equal(dropped.length, 1);
        assert.ok(dropped[0]!.includes(unknown.slice(0, 50)), dropped[0]!);
      }),
      runs,
    );
  });

  test(`${name}: a key that is there twice is refused at every depth`, () => {
    fc.assert(
      fc.property(bodies, fc.nat(), (body, place) => {
        const objects = declaredObjects(shape, body).filter((one) => Object.keys(one).length > 0);
        fc.pre(objects.length > 0);
        const chosen = objects[place % objects.length]!;
        const key = Object.keys(chosen)[0]!;
        chosen.TWICE = 1;
        const text = JSON.stringify(body).replace('"TWICE":1', `${JSON.stringify(key)}:null`);
        assert.deepEqual(Object.keys(requestJson(Buffer.from(text))), ["malformed"]);
      }),
      runs,
    );
  });

  test(`${name}: of any JSON, no list leaves as an object and no object as a list`, () => {
    const names = Object.keys(shape.fields);
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), json, { maxKeys: 6 }), (given) => {
        const body = copy(given);
        const result = rebuild(shape, body, walled);
        if ("refused" in result) return assert.match(String(result.refused.status), /^40[03]$/);
        for (const [key, value] of Object.entries(result.body)) {
          const kind = shape.fields[key]!.kind;
          if (value === null) continue;
          if (kind === "list") assert.ok(Array.isArray(value), key);
          if (kind === "object" || kind === "table") assert.ok(isObject(value), key);
          assert.notEqual(kind, "barred");
          assert.notEqual(kind, "reaching");
        }
      }),
      { numRuns: 300 },
    );
  });
}

test("numbers that JavaScript cannot hold leave as they are written", () => {
  const text = '{"x":[12345678901234567890,-9007199254740993,0.1,1e3]}';
  const parsed = requestJson(Buffer.from(text));
  assert.ok("value" in parsed);
  const { body } = rebuilt(object({ x: opaque }), parsed.value);
  assert.equal(JSON.stringify(body), '{"x":[12345678901234567890,-9007199254740993,0.1,1000]}');
});

test("a number that JavaScript cannot hold is a number for a field that takes one, alone or among others", () => {
  const parsed = requestJson(Buffer.from('{"x":9223372036854775807,"y":-9223372036854775807}'));
  assert.ok("value" in parsed);
  const { body } = rebuilt(object({ x: number, y: either(text, number) }), parsed.value);
  assert.equal(JSON.stringify(body), '{"x":9223372036854775807,"y":-9223372036854775807}');
});

for (const [title, bytes] of [
  ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ["a number beyond all doubles", Buffer.from('{"temperature": 1e400}')],
  ["a word that JSON lacks", Buffer.from('{"temperature": NaN}')],
  ["nesting without end", Buffer.from(`{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`)],
  ["a key twice in other spelling", Buffer.from('{"store":false,"st\\u006fre":true}')],
  ["two values", Buffer.from('{"a":1}{"a":2}')],
  ["nothing", Buffer.from("")],
] as const)
  test(`${title} is malformed`, () => {
    assert.ok("malformed" in requestJson(bytes));
  });
