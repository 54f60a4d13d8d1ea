import assert from "node:assert/strict";
import { test } from "node:test";
import { type Item, itemColumns } from "@mlrb/core/statistics/items";
import { sample } from "@mlrb/formats/judged/sample";
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import fc from "fast-check";
import { objectIn } from "../../exports/json-pieces.ts";
import { parseSamples } from "./parse-samples.ts";

/** Lines as Python's json and JSON.stringify write them. */
const lines = Array.from({ length: 2000 }, (_, at) => {
  const [id, group] = [`subject_${at % 57}/${at}`, `subject_${at % 57}`];
  const choices = [-1.1822776263579726, at / 7, 1e-7];
  return at % 2 === 0
    ? JSON.stringify({
        id,
        group,
        value: at % 3,
        weight: 1,
        choices,
        more: { answer: 'a "b"\n', is: [true] },
      })
    : `{"id": "${id}", "group": "${group}", "value": ${at % 3}.0, "weight": 1, "choices": [${choices.join(", ")}]}`;
});
const textOf = (all: string[]) => all.map((line) => `${line}\n`).join("");

/** By JSON.parse and the format alone. */
function plainly(text: string): Reading<Item[]> {
  const all = text.endsWith("\n") ? text.slice(0, -1).split("\n") : text === "" ? [] : text.split("\n");
  const items: Item[] = [];
  for (const line of all) {
    const reading = readFormat(sample, line);
    if (reading.kind === "unreadable" || !objectIn(line)) {
      const cause = reading.kind === "ok" ? "it nests too deep" : reading.cause;
      return { kind: "unreadable", cause: `line ${items.length + 1}: ${cause}` };
    }
    const { id, value, weight, group, cluster = group } = reading.value;
    items.push(cluster === undefined ? { id, value, weight } : { id, value, weight, group: cluster });
  }
  return { kind: "ok", value: items };
}

function assertSame(text: string): void {
  const expected = plainly(text);
  const like = parseSamples(textOf(lines.slice(0, 3)));
  assert.ok(like.kind === "ok");
  for (const found of [parseSamples(text), parseSamples(text, like.value), parseSamples(Buffer.from(text))]) {
    if (expected.kind === "unreadable") {
      assert.equal(found.kind, "unreadable", text);
      assert.equal(
        found.kind === "unreadable" && found.cause.slice(0, 30),
        expected.cause.slice(0, 30),
        text,
      );
    } else assert.deepEqual(found, { kind: "ok", value: itemColumns(expected.value) }, text);
  }
}

test("lines as scorers write them are never parsed as objects, and take 20 bytes an item", (t) => {
  const parse = t.mock.method(JSON, "parse");
  const plain = lines.filter((line) => !line.includes("\\"));
  const found = parseSamples(Buffer.from(textOf(plain)));
  assert.equal(parse.mock.callCount(), 0);
  assert.ok(found.kind === "ok");
  const { values, weights, groups } = found.value;
  const bytes = [values, weights, groups.of].reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  assert.equal(bytes, 20 * plain.length);
});

test("another score of the same test shares all names", () => {
  const first = parseSamples(Buffer.from(textOf(lines)));
  assert.ok(first.kind === "ok");
  const second = parseSamples(Buffer.from(textOf(lines)), first.value);
  assert.ok(second.kind === "ok");
  assert.equal(second.value.ids, first.value.ids);
  assert.equal(second.value.groups, first.value.groups);
});

test("names are shared only where every one is equal", () => {
  const first = parseSamples(textOf(lines));
  assert.ok(first.kind === "ok");
  for (const other of [lines.toReversed(), lines.slice(1), [...lines, lines[0]!], []]) {
    assert.deepEqual(parseSamples(textOf(other), first.value), parseSamples(textOf(other)));
  }
});

const line = (fields: string) => `{"id":"a","value":1,"weight":2${fields}}`;

test("odd lines are read or refused exactly as by JSON.parse and the format", () => {
  const numbers =
    "0 -0 00 1. .5 -1 1e5 1E-7 1e 1e999 -1e-400 0.1 123456789012345 1234567890123456.7 NaN - +1 0x1"
      .split(" ")
      .concat("0.30000000000000004", "9007199254740993", "0.000000000000001", '"1"', "null");
  for (const number of numbers) {
    assertSame(`{"id":"a","value":${number},"weight":1}\n`);
    assertSame(`{"id":"a","value":1,"weight":${number}}\n`);
    assertSame(line(`,"more":[${number}]`));
  }
  for (const fields of [
    ...["", ',"id":"b"', ',"value":3', ',"weight":3', ',"group":"g","cluster":"c"', ',"group":null', ","],
    ...[
      ',"\\u0069d":"b"',
      ',"i\\u0064":"b"',
      ',"group":"\\u00e9\\n"',
      ',"group":"é"',
      ',"x":"\\x"',
      ',"x":"\t"',
    ],
    ...[
      ',"x":[]',
      ',"x":{}',
      ',"x":[1,]',
      ',"x":{"a":1,}',
      ',"x":{"a" : [ 1 , {"b":nul}]}',
      ',"x":tru',
      ',"x":[1 2]',
    ],
    ...[
      ',"__proto__":{"id":1}',
      `,"x":${"[".repeat(9)}1${"]".repeat(9)}`,
      `,"x":${"[".repeat(70)}${"]".repeat(70)}`,
    ],
  ]) {
    assertSame(line(fields));
    assertSame(` ${textOf([lines[0]!, line(fields), lines[1]!])}`);
  }
  for (const text of [
    "",
    "\n",
    "\r\n",
    "{}",
    "[]\n",
    `${line("")}\r\n`,
    `${line("")} x\n`,
    `${line("")}\n\n`,
  ])
    assertSame(text);
});

test("damaged lines are read or refused exactly as by JSON.parse and the format", () => {
  const whole = textOf(lines.slice(0, 2));
  const piece = fc.constantFrom(...'{}[]":,\\/ \n\r\t-+.eE0159aéu'.split(""), '"id":', '"value":', "null");
  const damage = fc.tuple(fc.nat(whole.length), fc.nat(3), piece);
  fc.assert(
    fc.property(damage, ([at, cut, put]) => assertSame(whole.slice(0, at) + put + whole.slice(at + cut))),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
      assertSame(`{"id":"a","value":${value},"weight":1}\n`),
    ),
  );
});

test("lines with many values are read or refused without an end of the stack", () => {
  for (const count of [30_000, 4_000_000])
    for (const end of ["", "x"]) assertSame(line(`,"more":[${"1,".repeat(count)}1]${end}`));
});

test("bytes that are not UTF-8 are unreadable, and a byte order mark is skipped", () => {
  const bytes = Buffer.from(`${line(',"more":"é"')}\n`);
  assert.equal(parseSamples(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes])).kind, "ok");
  const found = parseSamples(bytes.subarray(0, -4));
  assert.deepEqual(found, { kind: "unreadable", cause: "not UTF-8 text" });
});
