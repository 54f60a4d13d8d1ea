import assert from "node:assert/strict";
import { test } from "node:test";
import { displayWidth } from "@mlrb/core/text/display-width";
import fc from "fast-check";
import { type Going, liveLines } from "./live-lines.ts";

const attempt = "attempt[task=baby-lm,agent=script-strong,seed=1]";
/** One of nine. */
const bar = "██░░░░░░░░░░░░░░░░░░";
const now = (...going: Going[]) => ({ done: 1, total: 9, left: undefined, going });

test("an instance's output follows its name if it fits, else on the next line", () => {
  const going = now({ id: attempt, forMs: 3000, said: "step 140, loss 3.2, and so on" });
  assert.deepEqual(liveLines(going, { columns: 100, rows: 24 }), [
    `${bar} 1/9 done, 1 running`,
    `  3 s  ${attempt} | step 140, loss 3.2, and so on`,
  ]);
  assert.deepEqual(liveLines(going, { columns: 60, rows: 24 }), [
    "1/9 done, 1 running",
    `  3 s  ${attempt}`,
    "    | step 140, loss 3.2, and so on",
  ]);
  assert.deepEqual(liveLines(going, { columns: 31, rows: 24 }), [
    "1/9 done, 1 running",
    "  3 s  attempt[task=baby-lm,a…",
    "    | step 140, loss 3.2, and…",
  ]);
});

test('the remaining time is "at least" if an instance was never timed', () => {
  const head = (ms: number, untimed: number) =>
    liveLines({ ...now({ id: "a", forMs: 0 }), left: { ms, untimed } }, { columns: 80, rows: 24 })[0];
  assert.equal(head(125_000, 0), `${bar} 1/9 done, 1 running, about 3 m left`);
  assert.equal(head(41_000, 2), `${bar} 1/9 done, 1 running, at least 45 s left`);
  assert.equal(head(7_950_000, 0), `${bar} 1/9 done, 1 running, about 2 h 13 m left`);
  assert.equal(head(400, 0), `${bar} 1/9 done, 1 running`, "an end that is due is not foretold");
});

test("the bar is full only at the end, left out of a narrow terminal, and the spending follows the counts", () => {
  const head = (done: number, columns: number, spent?: string) =>
    liveLines({ ...now({ id: "a", forMs: 0 }), done, total: 572, spent }, { columns, rows: 24 })[0]!;
  assert.match(head(571, 80), /^█{19}░ 571\/572 done/);
  assert.match(head(572, 80), /^█{20} 572\/572 done/);
  assert.match(head(3, 50), /^3\/572 done/);
  assert.match(head(3, 80, "spent 0.40 dollars"), / 3\/572 done, 1 running, spent 0\.40 dollars$/);
});

test("instances that do not fit are counted", () => {
  const many = now(...Array.from({ length: 20 }, (_, at) => ({ id: `stage[n=${at}]`, forMs: 1000 * at })));
  assert.deepEqual(liveLines(many, { columns: 80, rows: 7 }), [
    `${bar} 1/9 done, 20 running`,
    "  0 s  stage[n=0]",
    "  1 s  stage[n=1]",
    "  … and 18 more",
  ]);
});

test("every line is narrower than the terminal and all fit on it, for any names and output", () => {
  const going = fc.record({
    id: fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 }),
    forMs: fc.nat(9e7),
    expectedMs: fc.option(fc.nat(9e7), { nil: undefined }),
    said: fc.option(fc.string({ unit: "grapheme", maxLength: 200 }), { nil: undefined }),
  });
  const size = fc.record({
    columns: fc.integer({ min: 11, max: 250 }),
    rows: fc.integer({ min: 3, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(going, { minLength: 1, maxLength: 30 }), size, (list, { columns, rows }) => {
      const lines = liveLines(now(...list), { columns, rows });
      assert.ok(lines.length >= 2 && lines.length <= Math.max(2, rows - 1), `${lines.length} of ${rows}`);
      for (const line of lines) assert.ok(displayWidth(line) < columns, line);
    }),
  );
});

test("foreign text is one line without control sequences, whatever a provider or a command has in it", () => {
  const waits = "waits for a provider: 500: \u001b[2Jgone\r\nsecond\u202e";
  const said = "no output yet; runs set -e\npython3 train.py";
  for (const columns of [40, 200])
    for (const one of [{ waits }, { said }]) {
      const lines = liveLines(
        { ...now({ id: attempt, forMs: 3000, ...one }), spent: "1\n2" },
        { columns, rows: 24 },
      );
      for (const line of lines) assert.doesNotMatch(line, /\p{Cc}|\p{Cf}/u);
    }
});
