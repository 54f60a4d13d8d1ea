import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { answersOf, judgeOf } from "../testing/judge-example.ts";
import { answerChanges, answerChangeText } from "./answer-changes.ts";

const place = { task: "letters", agent: "plain", seed: 1, family: null };
const report = (...answers: ReturnType<typeof answersOf>[]) =>
  ({
    judged: { attempts: answers.map((one) => ({ ...place, answers: one })), checks: [] },
  }) as unknown as Report;

test("answers of an old and a new rubric, or of another judge, stand side by side; equal ones are left out", () => {
  const newer = { ...judgeOf, rubric: { name: "leaks", digest: "cd".repeat(32) } };
  const other = { ...judgeOf, judge: { ...judgeOf.judge, id: "large" } };
  const [first, ...more] = answerChanges({
    old: report(answersOf({ copied: "no", effort: "some" })),
    now: report(
      answersOf({ copied: "yes" }, newer),
      answersOf({ effort: "some" }),
      answersOf({ copied: "no" }, other),
    ),
  });
  assert.deepEqual(more, []);
  assert.equal(first!.about, "letters, plain 1, leaks copied");
  assert.match(
    answerChangeText(first!),
    /^local\/small at 0, rubric leaks, 3 votes \(abab\w*\): no → local\/large .*: no; local\/small .* \(cdcd\w*\): yes$/,
  );
});

test("a report without a judge was not asked", () => {
  const [change] = answerChanges({ old: {} as Report, now: report(answersOf({ copied: "no" })) });
  assert.match(answerChangeText(change!), /^not asked → local\/small/);
  assert.deepEqual(answerChanges({ old: {} as Report, now: {} as Report }), []);
});
