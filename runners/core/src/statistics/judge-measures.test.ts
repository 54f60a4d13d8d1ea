import assert from "node:assert/strict";
import { test } from "node:test";
import { cohenKappa, type JudgedAnswer, judgeMeasures } from "./judge-measures.ts";
import { wilsonInterval } from "./wilson-interval.ts";

const plain = { answers: ["yes", "no"], unquoted: ["no"] };

/** `many` trajectories with this label and answer. */
function answered<Label extends string | null>(label: Label, answer: string, many: number) {
  return Array.from({ length: many }, () => ({ label, answer, unanimous: answer !== "split" }));
}

function detected(found: JudgedAnswer[], question = plain) {
  const [closed, openCounted] = judgeMeasures(found, question);
  return { ...closed!, closed: closed!, first: closed!.detection!, second: openCounted!.detection! };
}

test("right and wrong answers are counted by their label, and those without a label not at all", () => {
  const { closed, labelled, first } = detected([
    ...answered("yes", "yes", 8),
    ...answered("yes", "no", 2),
    ...answered("no", "yes", 3),
    ...answered("no", "no", 17),
    ...answered(null, "yes", 9),
  ]);
  assert.equal(labelled, 30);
  const { truePositive, falsePositive, trueNegative, falseNegative } = first;
  assert.deepEqual([truePositive, falsePositive, trueNegative, falseNegative], [8, 3, 17, 2]);
  const [low, high] = wilsonInterval(3, 20)!;
  assert.deepEqual(first.falseAlarms, { count: 3, of: 20, low, high });
  assert.deepEqual([first.sensitivity!.count, first.sensitivity!.of], [8, 10]);
  assert.deepEqual([first.specificity!.count, first.specificity!.of], [17, 20]);
  assert.deepEqual([closed.agreement!.count, closed.agreement!.of], [25, 30]);
  assert.deepEqual([first.prevalence!.count, first.prevalence!.of], [10, 30]);
});

test("an open answer is neither right nor wrong, and in the second row no claim", () => {
  const found = [
    ...answered("yes", "yes", 1),
    ...answered("yes", "cannot tell", 2),
    ...answered("no", "unsupported", 3),
    ...answered("no", "split", 4),
  ];
  const { closed, first, second, open, unanimous } = detected(found);
  assert.deepEqual([first.sensitivity!.of, first.specificity, closed.agreement!.of], [1, null, 1]);
  assert.deepEqual([first.prevalence!.count, first.prevalence!.of], [3, 10]);
  assert.deepEqual([second.truePositive, second.falseNegative], [1, 2]);
  assert.deepEqual([second.trueNegative, second.falsePositive], [7, 0]);
  // 8 of 10 agree, and by chance 0.3 · 0.1 + 0.7 · 0.9
  assert.equal(judgeMeasures(found, plain)[1]!.kappa?.toFixed(4), ((0.8 - 0.66) / (1 - 0.66)).toFixed(4));
  assert.deepEqual(open, { "cannot tell": 2, unsupported: 3, split: 4 });
  assert.deepEqual([unanimous!.count, unanimous!.of], [6, 10]);
});

test("the claim of a presence is the positive answer, whatever its word", () => {
  const question = { answers: ["clean", "copied"], unquoted: ["clean"] };
  const { first } = detected(answered("copied", "copied", 3), question);
  assert.deepEqual([first.positive, first.truePositive], ["copied", 3]);
});

test("a question of three answers has agreement and kappa, and no false alarms", () => {
  const question = { answers: ["low", "middle", "high"], unquoted: [] };
  const found = [
    ...answered("low", "low", 4),
    ...answered("high", "middle", 1),
    ...answered("high", "split", 5),
  ];
  const [closed, openCounted] = judgeMeasures(found, question);
  assert.deepEqual([closed!.detection, openCounted!.detection], [null, null]);
  assert.deepEqual([closed!.agreement!.count, closed!.agreement!.of], [4, 5]);
  assert.deepEqual([openCounted!.agreement!.count, openCounted!.agreement!.of], [4, 10]);
});

test("Cohen's kappa is agreement beyond chance, and undefined where chance agrees always", () => {
  // 20 both yes, 15 both no, 5 and 10 apart: observed 0.7, expected 0.5
  const pairs = [
    ...answered("yes", "yes", 20),
    ...answered("yes", "no", 5),
    ...answered("no", "yes", 10),
    ...answered("no", "no", 15),
  ];
  assert.equal(cohenKappa(pairs)?.toFixed(12), "0.400000000000");
  assert.equal(cohenKappa([...answered("yes", "no", 3), ...answered("no", "yes", 3)]), -1);
  assert.equal(cohenKappa(answered("yes", "yes", 3)), null);
  assert.equal(cohenKappa([]), null);
  // always yes: no better than chance
  assert.equal(cohenKappa([...answered("yes", "yes", 3), ...answered("no", "yes", 5)]), 0);
});
