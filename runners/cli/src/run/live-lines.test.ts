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
    "  3 s  attempt[baby-lm,script…",
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

test("what does not fit next to the counts is on a second line, and money is never cut", () => {
  const of = {
    ...now({ id: "a", forMs: 0 }),
    failed: 2,
    total: 572,
    spent: "spent 1.5 GPU hours and 0.40 dollars",
  };
  const left = { ms: 125_000, untimed: 0 };
  const lines = (columns: number) => liveLines({ ...of, left }, { columns, rows: 24 }).slice(0, -1);
  assert.deepEqual(lines(120), [
    "░░░░░░░░░░░░░░░░░░░░ 1/572 done, 2 failed, 1 running, spent 1.5 GPU hours and 0.40 dollars, about 3 m left",
  ]);
  assert.deepEqual(lines(80), [
    "1/572 done, 2 failed, 1 running",
    "  spent 1.5 GPU hours and 0.40 dollars, about 3 m left",
  ]);
});

test("an instance that outlasts its last duration says so, and an attempt has its money", () => {
  const line = (one: Partial<Going>) =>
    liveLines(now({ id: "a", forMs: 40_000, ...one }), { columns: 80, rows: 24 })[1];
  assert.equal(line({ expectedMs: 50_000 }), "  40 s of ~50 s  a");
  assert.equal(line({ expectedMs: 25_000 }), "  40 s (last 25 s)  a");
  assert.equal(line({ spent: "0.40 dollars" }), "  40 s, 0.40 dollars  a");
});

test("a group is named with the stage that runs", () => {
  const one = { id: "checks[task=x,seed=1]", stage: "memory", forMs: 1000 };
  const line = (said?: string) => liveLines(now({ ...one, said }), { columns: 80, rows: 24 })[1];
  assert.equal(line(), "  1 s  checks[task=x,seed=1] | memory");
  assert.equal(line("at 3 GB"), "  1 s  checks[task=x,seed=1] | memory: at 3 GB");
});

test("only the count of failures has a colour, and only where it is wanted", () => {
  const failed = { ...now({ id: "3 failed", forMs: 0 }), failed: 3 };
  const text = (color: boolean) => liveLines(failed, { columns: 80, rows: 24, color }).join("\n");
  assert.match(text(true), /^[^\n]*\u001b\[31m3 failed\u001b\[39m[^\u001b]*$/);
  assert.doesNotMatch(text(false), /\u001b/);
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
    stage: fc.option(fc.string({ unit: "grapheme", maxLength: 80 }), { nil: undefined }),
    spent: fc.option(fc.string({ unit: "grapheme", maxLength: 80 }), { nil: undefined }),
  });
  const words = fc.string({ unit: "grapheme", maxLength: 80 });
  const head = fc.record({ failed: fc.nat(9), queued: words, spent: words });
  const size = fc.record({
    columns: fc.integer({ min: 11, max: 250 }),
    rows: fc.integer({ min: 3, max: 60 }),
  });
  fc.assert(
    fc.property(
      fc.array(going, { minLength: 1, maxLength: 30 }),
      size,
      head,
      (list, { columns, rows }, more) => {
        const lines = liveLines({ ...now(...list), ...more }, { columns, rows });
        assert.ok(lines.length >= 2 && lines.length <= Math.max(2, rows - 1), `${lines.length} of ${rows}`);
        for (const line of lines) assert.ok(displayWidth(line) < columns, line);
      },
    ),
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
