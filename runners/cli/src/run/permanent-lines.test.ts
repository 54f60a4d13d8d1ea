import assert from "node:assert/strict";
import { test } from "node:test";
import { displayWidth } from "@mlrb/core/text/display-width";
import fc from "fast-check";
import { permanentLines } from "./permanent-lines.ts";

const id = "checkpoint-causality[task=edge-llm-compression,agent=script-strong,seed=1,checkpoint=50%]";
const on80 = { columns: 80, color: false };

test("a name that does not fit loses the names of its axes, and the rest of a long line is indented below", () => {
  const score = "score[task=edge-llm-training,agent=script-strong,seed=1,scorer=bits-per-byte-mean]";
  assert.deepEqual(permanentLines({ counter: "[  3/572]", text: `done    ${score}  1.2 s` }, on80), [
    "[  3/572] done    score[edge-llm-training,script-strong,1,bits-per-byte-mean]",
    "    1.2 s",
  ]);
  const short = "score[task=baby-lm,seed=1]";
  assert.deepEqual(
    permanentLines({ counter: "[3/9]", text: `FAILED  ${short}  ${"cause ".repeat(12)}end` }, on80),
    [`[3/9] FAILED  ${short}  ${"cause ".repeat(6).trim()}`, `    ${"cause ".repeat(6)}end`],
  );
  const pipe = permanentLines(
    { counter: "[  3/572]", text: `done    ${score}  1.2 s` },
    { columns: undefined, color: false },
  );
  assert.deepEqual(pipe, [`[  3/572] done    ${score}  1.2 s`]);
});

test("reasons end at the edge of a terminal, and are whole in a pipe", () => {
  const line = { counter: "[1/5]", text: "start   score", reasons: `code changed: ${"x".repeat(200)}` };
  const [cut, ...more] = permanentLines(line, on80);
  assert.deepEqual(more, []);
  assert.match(cut!, /^\[1\/5\] start {3}score {2}\(code changed: x+…\)$/);
  assert.equal(cut!.length, 79);
  assert.ok(permanentLines(line, { columns: undefined, color: false })[0]!.endsWith(`${"x".repeat(200)})`));
});

test("done is green and FAILED is red, where colours are wanted, and nothing else is", () => {
  const words = (text: string, color: boolean) =>
    permanentLines({ counter: "[ 1/50]", text }, { ...on80, color })[0];
  assert.equal(words("done    a", true), "[ 1/50] \u001b[32mdone\u001b[39m    a");
  assert.equal(words("FAILED  a  done it", true), "[ 1/50] \u001b[31mFAILED\u001b[39m  a  done it");
  assert.equal(words("start   done", true), "[ 1/50] start   done");
  assert.equal(words("done    a", false), "[ 1/50] done    a");
});

test("no line is as wide as the terminal, and none holds a control sequence, for any text", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 600 });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 20, max: 250 }), (foreign, reasons, columns) => {
      const line = { counter: "[12/572]", text: `FAILED  ${id}  ${foreign}`, reasons };
      for (const one of permanentLines(line, { columns, color: false })) {
        assert.ok(displayWidth(one) < columns, one);
        assert.doesNotMatch(one, /[\p{Cc}\p{Cf}]/u);
      }
    }),
  );
});
