import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attempt, AttemptScore } from "@mlrb/formats/report/attempt";
import { attemptsWith, judged } from "./expected-scores.ts";

const scored = (value: number) => ({ kind: "scored", value }) as AttemptScore;
const rejected = { kind: "rejected", reason: "x" } as AttemptScore;

test("a score is equal, different with the difference, or not judged where it depends on the machine", () => {
  const words = (expected: AttemptScore, found: AttemptScore, host = false) => {
    const { kind, words } = judged("bits", { expected, found, host });
    return [kind, words];
  };
  assert.deepEqual(words(scored(0.5), scored(0.5)), ["equal", "0.5, equal"]);
  assert.deepEqual(words(scored(0.5), scored(0.25)), [
    "different",
    "0.5 expected, 0.25 now (-0.25): different",
  ]);
  assert.equal(words(scored(0.1), scored(0.1 + 2 ** -50))[0], "different", "no tolerance");
  assert.deepEqual(words(scored(2), scored(3), true), [
    "host",
    "2 expected, 3 now (+1), not judged: it depends on the machine",
  ]);
  assert.equal(words(scored(2), rejected, true)[0], "different", "also where it depends on the machine");
  assert.equal(words(rejected, rejected)[0], "equal");
});

test("only attempts that handed in the same files to the same task and have a score are expected", () => {
  const attempt = (task: string, submission: string, scores: Attempt["scores"]) =>
    ({ task, submission, scores }) as Attempt;
  const own = attempt("a", "1", { bits: scored(1) });
  const others = [
    attempt("b", "1", { bits: scored(1) }),
    attempt("a", "2", { bits: scored(1) }),
    attempt("a", "1", { bits: { kind: "not-measured", cause: "x" } }),
  ];
  assert.deepEqual(attemptsWith([own, ...others], { task: "a", digest: "1" }), [own]);
  const none = attemptsWith(others, { task: "a", digest: "1" });
  assert.ok("code" in none);
  assert.match(none.message, /no scores of these files for a: their digest is 1$/);
});
