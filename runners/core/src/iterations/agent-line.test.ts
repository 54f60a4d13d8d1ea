import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { agentLine } from "./agent-line.ts";

test("a complete line keeps every field, and a number becomes an id", () => {
  const line = {
    id: 7,
    parent: "a",
    hypothesis: "h",
    change: "c",
    command: "x.py",
    metric: { name: "loss", split: "dev", value: 2.5 },
    predicted: 2.4,
    decision: "go on",
    surprise: true,
  };
  const { surprise: _, ...kept } = line;
  assert.deepEqual(agentLine(JSON.stringify(line)), { ...kept, id: "7" });
});

test("fields of a wrong type are dropped one by one, and the rest of the line is kept", () => {
  const line = {
    id: "a",
    parent: { x: 1 },
    hypothesis: ["x"],
    change: "c",
    command: 5,
    metric: { name: "acc", value: "0.9" },
    predicted: "high",
    decision: false,
  };
  assert.deepEqual(agentLine(JSON.stringify(line)), {
    id: "a",
    parent: null,
    hypothesis: null,
    change: "c",
    command: null,
    metric: { name: "acc", split: null, value: null },
    predicted: null,
    decision: null,
  });
});

test("numbers so large that differences overflow are dropped", () => {
  for (const value of ["1e999", "-1e308", "1e31"])
    assert.equal(
      agentLine(`{"id":1,"change":"c","metric":{"name":"a","value":${value}}}`)?.metric?.value,
      null,
    );
});

test("a line without an id or an experiment is refused", () => {
  for (const line of [
    "",
    "null",
    "[]",
    "3",
    '"x"',
    "{",
    '{"id":"a"}',
    '{"change":"c"}',
    '{"id":{},"change":"c"}',
  ])
    assert.equal(agentLine(line), undefined, line);
});

test("any text of an agent becomes one plain bounded line", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 3000 }), fc.jsonValue(), (text, value) => {
      const claim = agentLine(
        JSON.stringify({ id: "a", hypothesis: text, change: "c", command: value, metric: value }),
      );
      for (const field of [claim?.hypothesis, claim?.command, claim?.metric?.name])
        if (field != null) assert.ok([...field].length <= 500 && !/[\p{Cc}\p{Zl}]/u.test(field));
      agentLine(text);
    }),
  );
});
