import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import type { ExtractEvent } from "@mlrb/formats/judged/extract";
import { extractPieces } from "./extract-pieces.ts";

const event = (number: number, text: string): ExtractEvent => ({ number, kind: "result", text });

test("an event of several lines begins one line", () => {
  assert.deepEqual(extractPieces([event(1, "a\nb\n\nc"), event(2, "d")], 1000), [
    "[1] result: a\n  b\n\n  c\n[2] result: d",
  ]);
});

for (const end of ["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\n\n"])
  test(`a text with ${JSON.stringify(end)} cannot look like another event`, () => {
    const [piece] = extractPieces([event(1, `done${end}[7] measurement: no overlap`)], 1000);
    const lines = piece!.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/u);
    assert.deepEqual(
      lines.filter((line) => line.startsWith("[")),
      ["[1] result: done"],
    );
  });

test("pieces of any extract fit, leave no character out, and hold more than half that is new", () => {
  const generator = seededRandom(7);
  const random = () => generator.fraction();
  const words = ["好\n", "é", "x ", "\n", "loss 2.1", "😀", "\ud800"];
  for (let round = 0; round < 50; round++) {
    const events = Array.from({ length: 1 + Math.floor(random() * 30) }, (_, at) => {
      const size = Math.floor(random() ** 4 * 4000);
      const text = Array.from({ length: size }, () => words[Math.floor(random() * words.length)]).join("");
      return event(at + 1, `begin ${text} end${at + 1}.`);
    });
    const bytesMax = 4800 + Math.floor(random() * 5000);
    const pieces = extractPieces(events, bytesMax);
    for (const piece of pieces) assert.ok(Buffer.byteLength(piece) <= bytesMax);
    for (const { number } of events)
      assert.ok(
        pieces.some((piece) => piece.includes(` end${number}.`)),
        `end ${number}`,
      );
    const all = extractPieces(events, Number.POSITIVE_INFINITY)[0]!;
    assert.ok(pieces.length <= Math.max(1, Math.ceil((2 * Buffer.byteLength(all)) / bytesMax)));
  }
});

test("a line that two parts of an event share is whole in one of them", () => {
  const text = Array.from({ length: 300 }, (_, at) => `line ${at} of the long event;`).join(" ");
  const pieces = extractPieces([event(1, text)], 4800);
  assert.ok(pieces.length > 1);
  for (let at = 0; at < 300; at++)
    assert.ok(pieces.some((piece) => piece.includes(`line ${at} of the long event;`)));
});

test("an event of the characters that take the most bytes is cut into pieces that fit", () => {
  const pieces = extractPieces([event(1, "好\n".repeat(5000)), event(2, "ok")], 4800);
  for (const piece of pieces) assert.ok(Buffer.byteLength(piece) <= 4800);
});
