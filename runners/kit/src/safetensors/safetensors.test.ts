import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { readSafetensors } from "./safetensors.ts";
import { fileOf, float32, safetensorsBytes } from "./testing/safetensors-bytes.ts";

const folder = mkdtempSync(join(tmpdir(), "safetensors-"));
after(() => rmSync(folder, { recursive: true }));

function read(bytes: Uint8Array) {
  const path = join(folder, "x.safetensors");
  writeFileSync(path, bytes);
  return readSafetensors(path);
}

function reason(bytes: Uint8Array): string {
  const result = read(bytes);
  assert.equal(result.kind, "malformed");
  return result.kind === "malformed" ? result.reason : "";
}

const two = { "a.weight": float32([2, 3], [1, 2, 3, 4, 5, 6]), b: float32([2], [7, 8]) };
const data = Buffer.alloc(32);
const tensor = (offsets: unknown, shape: unknown = [2], dtype: unknown = "F32") => ({
  dtype,
  shape,
  data_offsets: offsets,
});

test("a valid file is read with its tensors' byte ranges", () => {
  const bytes = safetensorsBytes(two, (header) => ({ __metadata__: { format: "pt" }, ...header }));
  const result = read(bytes);
  assert.equal(result.kind, "ok");
  if (result.kind !== "ok") return;
  const start = bytes.length - 32;
  assert.deepEqual(
    result.file.tensors.map(({ name, shape, size, begin, end }) => ({ name, shape, size, begin, end })),
    [
      { name: "a.weight", shape: [2, 3], size: 6, begin: start, end: start + 24 },
      { name: "b", shape: [2], size: 2, begin: start + 24, end: start + 32 },
    ],
  );
});

test("scalars, empty tensors and a padded header are valid", () => {
  const header = JSON.stringify({ s: tensor([0, 4], []), e: tensor([4, 4], [0, 5]) });
  assert.equal(read(fileOf(`${header}   `, Buffer.alloc(4))).kind, "ok");
});

test("a file cut anywhere is refused", () => {
  const whole = safetensorsBytes(two);
  for (let length = 0; length < whole.length; length++)
    assert.equal(read(whole.subarray(0, length)).kind, "malformed", `cut to ${length} bytes`);
});

test("a file cut within its data is called truncated, with the missing bytes", () => {
  assert.match(
    reason(safetensorsBytes(two).subarray(0, -5)),
    /truncated: the tensors need 32 bytes, the file holds 27/,
  );
});

test("a header longer than the file, or than any real header, is refused without reading it", () => {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(2n ** 64n - 1n);
  assert.match(
    reason(Buffer.concat([length, Buffer.from("{}")])),
    /18446744073709551615 bytes of header; at most 8388608 are read/,
  );
  length.writeBigUInt64LE(3n);
  assert.match(reason(Buffer.concat([length, Buffer.from("{}")])), /the file has only 10/);
});

const bad: [string, RegExp, unknown][] = [
  ["overlapping tensors", /expected 8, without gap or overlap/, { a: tensor([0, 8]), b: tensor([4, 12]) }],
  ["a gap between tensors", /expected 8, without gap or overlap/, { a: tensor([0, 8]), b: tensor([12, 20]) }],
  ["data that no tensor claims", /24 bytes follow the last tensor/, { a: tensor([0, 8]) }],
  ["a size that does not fit the shape", /8 bytes do not hold 3 values of F32/, { a: tensor([0, 8], [3]) }],
  ["an unknown dtype", /unknown dtype "F13"/, { a: tensor([0, 8], [2], "F13") }],
  ["a dtype that every object has", /unknown dtype "constructor"/, { a: tensor([0, 8], [2], "constructor") }],
  ["a negative length", /not a list of at most 32 whole numbers/, { a: tensor([0, 8], [-2]) }],
  ["a length with a fraction", /not a list of at most 32 whole numbers/, { a: tensor([0, 8], [0.5, 4]) }],
  ["a shape beyond exact numbers", /more values than a file can/, { a: tensor([0, 8], [2 ** 40, 2 ** 40]) }],
  ["offsets that go backwards", /do not hold/, { a: tensor([8, 0]) }],
  ["three offsets", /not two whole numbers/, { a: tensor([0, 4, 8]) }],
  ["a key that no writer writes", /unknown key "pickle"/, { a: { ...tensor([0, 8]), pickle: 1 } }],
  ["an entry that is no object", /its entry is not an object/, { a: [1, 2] }],
  [
    "metadata that is not text",
    /not an object of texts/,
    { __metadata__: { n: 1 }, a: tensor([0, 32], [8]) },
  ],
];
for (const [what, expected, header] of bad) {
  test(`${what} is refused`, () => {
    assert.match(reason(fileOf(JSON.stringify(header), data)), expected);
  });
}

test("two tensors of one name are refused, escaped or not", () => {
  const one = JSON.stringify(tensor([0, 32], [8]));
  assert.match(reason(fileOf(`{"a":${one},"a":${one}}`, data)), /"a" appears twice/);
  assert.match(reason(fileOf(`{"a":${one},"\\u0061":${one}}`, data)), /"a" appears twice/);
});

test("a header that is a list, deep, not JSON or not UTF-8 is refused", () => {
  assert.match(reason(fileOf("[]", data)), /does not begin with \{/);
  assert.match(reason(fileOf(`{"a":${"[".repeat(1e6)}${"]".repeat(1e6)}}`, data)), /nested deeper/);
  assert.match(reason(fileOf("{nope}", data)), /not JSON/);
  assert.match(reason(fileOf('{"\xff', data).fill(0xff, 9, 11)), /not UTF-8/);
});

test("no bytes make the reader throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 0, max: 210 }), (bytes, length) => {
      read(bytes);
      const prefix = Buffer.alloc(8);
      prefix.writeBigUInt64LE(BigInt(length));
      read(Buffer.concat([prefix, Buffer.from("{"), bytes]));
    }),
    { numRuns: 300 },
  );
});

test("a header of any JSON is either refused or describes every byte once", () => {
  const place = fc.oneof(fc.integer({ min: -4, max: 40 }), fc.constant(2 ** 53), fc.double());
  const entry = fc.oneof(
    fc.record({
      dtype: fc.constantFrom("F32", "F16", "U8", "F4", "x"),
      shape: fc.array(place, { maxLength: 3 }),
      data_offsets: fc.array(place, { minLength: 1, maxLength: 3 }),
    }),
    fc.json().map((text) => JSON.parse(text)),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), entry, { maxKeys: 3 }), (header) => {
      const result = read(fileOf(JSON.stringify(header), data));
      if (result.kind === "malformed") return;
      const covered = result.file.tensors.reduce((sum, { begin, end }) => sum + end - begin, 0);
      assert.equal(covered, data.length);
      for (const { begin, end, size } of result.file.tensors) {
        assert.ok(begin <= end && end <= result.file.bytes);
        assert.ok(Number.isSafeInteger(size) && size >= 0);
      }
    }),
    { numRuns: 500 },
  );
});
