import assert from "node:assert/strict";
import { test } from "node:test";
import { type StreamBlock, streamBlocks } from "./stream-blocks.ts";

/** Fed in pieces of `size` bytes. */
function read(stream: Buffer, size: number): StreamBlock[] {
  const blocks = streamBlocks();
  const found: StreamBlock[] = [];
  for (let from = 0; from < stream.length; from += size)
    found.push(...blocks.take(stream.subarray(from, from + size)));
  const last = blocks.end();
  return last ? [...found, last] : found;
}

const dataOf = (blocks: StreamBlock[]) => blocks.map(({ data }) => data).filter((data) => data !== "");

for (const [what, text, data] of [
  ["line feeds", 'event: a\ndata: {"x":"é🙂"}\n\ndata: 2\n\n', ['{"x":"é🙂"}', "2"]],
  ["carriage returns with line feeds", "data: 1\r\n\r\ndata: 2\r\n\r\n", ["1", "2"]],
  ["carriage returns alone", 'data: "é"\r\rdata: 2\r\r', ['"é"', "2"]],
  ["several lines of data", "data: 1\ndata: 2\n\ndata: 3\r\ndata: 4\r\n\r\n", ["1\n2", "3\n4"]],
  ["comments, ids and unknown fields", ": ping\n\nid: 7\nother: x\ndata: 1\n\n", ["1"]],
  ["a byte order mark", "\ufeffdata: 1\n\ndata: 2\n\n", ["1", "2"]],
  ["no space behind the colon", "data:1\n\ndata\n\ndata:  2\n\n", ["1", " 2"]],
  ["an end without an empty line", "data: 1\n\ndata: 2", ["1", "2"]],
] as const) {
  test(`a stream with ${what} gives the same events and all of its bytes, however it is cut`, () => {
    const stream = Buffer.from(text);
    for (let size = 1; size <= stream.length; size++) {
      const found = read(stream, size);
      assert.deepEqual(dataOf(found), data, `in pieces of ${size}`);
      assert.deepEqual(Buffer.concat(found.map(({ bytes }) => bytes)), stream);
    }
  });
}

test("a block holds all lines of its event and of no other", () => {
  const events = ["event: a\r\ndata: 1\r\ndata: 2\r\n\r\n", "data: 3\r\n\r\n"];
  const found = read(Buffer.from(events.join("")), 1);
  // the line feed of the last line's end may come later than its event
  assert.deepEqual(
    found.filter(({ data }) => data !== "").map(({ bytes }) => bytes.toString().trim()),
    events.map((event) => event.trim()),
  );
});

test("a comment is returned as soon as it is whole: it keeps a connection alive", () => {
  const [first] = streamBlocks().take(Buffer.from(": ping\n\ndata: 1"));
  assert.deepEqual(first, { bytes: Buffer.from(": ping\n\n"), data: "" });
});

for (const [what, piece] of [
  ["one line", "data: xxxx"],
  ["lines of data", `data: ${"x".repeat(100)}\n`],
  ["lines of comments", ": xxxxxx\n"],
  ["lines of unknown fields", "y: xxxx\n"],
]) {
  test(`an event of ${what} without an end is not buffered without a limit`, () => {
    const blocks = streamBlocks();
    const bytes = Buffer.from(piece!.repeat(Math.ceil((1 << 19) / piece!.length)));
    assert.throws(() => {
      for (let count = 0; count < 100; count++) blocks.take(bytes);
    }, /an event of more than/);
  });
}
