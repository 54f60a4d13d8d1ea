import assert from "node:assert/strict";
import { test } from "node:test";
import { streamBlocks } from "./stream-blocks.ts";

const stream = Buffer.from('event: a\ndata: {"x":"é"}\n\ndata: 1\r\ndata: 2\r\n\r\n: ping\n\ndata: cut');

test("however a stream is cut, its blocks are the same, and none of its bytes is lost", () => {
  for (let size = 1; size <= stream.length; size++) {
    const blocks = streamBlocks();
    const found = [];
    for (let from = 0; from < stream.length; from += size)
      found.push(...blocks.take(stream.subarray(from, from + size)));
    assert.deepEqual(
      found.map(({ data }) => data),
      ['{"x":"é"}', "1\n2", ""],
    );
    assert.deepEqual(Buffer.concat([...found.map(({ bytes }) => bytes), blocks.rest()]), stream);
  }
});

test("an event without an end is not kept without an end", () => {
  const blocks = streamBlocks();
  const piece = Buffer.alloc(1 << 20, "x");
  assert.throws(() => {
    for (let count = 0; count < 40; count++) blocks.take(piece);
  }, /an event of more than/);
});
