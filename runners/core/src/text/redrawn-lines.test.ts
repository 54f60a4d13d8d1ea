import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redrawnLines } from "./redrawn-lines.ts";

function collapsed(...pieces: string[]): string {
  const lines = redrawnLines();
  return pieces.map((piece) => lines.push(piece)).join("") + lines.end();
}

test("a line that is redrawn shows its last state", () => {
  assert.equal(collapsed("begin\n 1 %\r 50 %\r100 %\nend\n"), "begin\n100 %\nend\n");
  assert.equal(collapsed("\r10 %\r20 %"), "20 %", "also while it is being drawn");
});

test("Windows line ends, empty lines and indented lines stay as they are", () => {
  assert.equal(collapsed("one\r\n\r\n  two\r\n\n   \n"), "one\n\n  two\n\n   \n");
});

test("a line erased at its end shows what was there before", () => {
  assert.equal(collapsed("99 %\r    \r\nend\n"), "99 %\nend\n");
});

test("an overwritten state that is no redraw of the next is kept", () => {
  assert.equal(
    collapsed("ERROR: 3 of 60 samples failed\rwriting scores.json\n"),
    "ERROR: 3 of 60 samples failed\nwriting scores.json\n",
  );
  assert.equal(collapsed("CUDA OOM at step 3\r 0%|\r 1%|\nKilled"), "CUDA OOM at step 3\n 1%|\nKilled");
});

test("a bar is one line while its numbers, units and spinner change", () => {
  const bar = [
    "train:   0%|          | 0/100 [00:00<?, ?it/s]",
    "train:   5%|▌         | 5/100 [00:12<04:15,  2.40s/it]",
    "train:  45%|████▌     | 45/100 [00:12<00:15,  3.6it/s]",
  ];
  assert.equal(collapsed(bar.join("\r")), bar[2]);
  assert.equal(collapsed("| 900kB of 2.1 GB\r/ 1.2MB of 2.1 GB\r- 2.1 GB of 2.1 GB"), "- 2.1 GB of 2.1 GB");
  assert.equal(collapsed("⠋ loading\r⠙ loading"), "⠙ loading");
});

test("a line without an end is given on in parts", () => {
  const lines = redrawnLines();
  const given = lines.push("x".repeat(100_000)).length;
  assert.equal(given, 100_000);
  assert.equal(lines.push("y") + lines.end(), "y");
});

test("pieces give the same as the whole, and a text without carriage returns stays", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\r", "\n") });
  fc.assert(
    fc.property(fc.array(text), (pieces) => {
      const whole = pieces.join("");
      assert.equal(collapsed(...pieces), collapsed(whole));
      const plain = whole.replaceAll("\r", "");
      assert.equal(collapsed(plain), plain);
    }),
  );
});
