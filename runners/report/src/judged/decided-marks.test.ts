import assert from "node:assert/strict";
import { test } from "node:test";
import { byPerson, decidedMarks, isQuestionRule } from "./decided-marks.ts";

const decision = (rule: string, verdict: "pass" | "fail", counts = true) => ({ rule, verdict, counts });
const marks = [
  { judge: "small", questions: ["leaks.copied", "leaks.told"] },
  { judge: "large", questions: ["leaks.copied"] },
];

test("a pass takes the question away from every judge, and with its last question a judge's mark", () => {
  assert.deepEqual(decidedMarks(marks, [decision("leaks.copied", "pass")]), [
    { judge: "small", questions: ["leaks.told"] },
  ]);
});

test("a fail keeps the judges' marks and marks as a person, also where no judge did", () => {
  assert.deepEqual(decidedMarks(marks, [decision("leaks.copied", "fail")]), [
    ...marks,
    { judge: byPerson, questions: ["leaks.copied"] },
  ]);
  assert.deepEqual(decidedMarks([], [decision("leaks.told", "fail")]), [
    { judge: byPerson, questions: ["leaks.told"] },
  ]);
});

test("a decision that does not count, or is on a rule of a task, or on another question, changes no mark", () => {
  for (const one of [
    decision("leaks.copied", "pass", false),
    decision("leaks.copied", "fail", false),
    decision("from-scratch", "fail"),
    decision("copied", "pass"),
    decision("other.copied", "pass"),
  ])
    assert.deepEqual(decidedMarks(marks, [one]), marks, JSON.stringify(one));
});

test("only a rule of a rubric's question has a dot", () => {
  assert.deepEqual(["leaks.copied", "leaks.stages.plan", "from-scratch"].map(isQuestionRule), [
    true,
    true,
    false,
  ]);
});
