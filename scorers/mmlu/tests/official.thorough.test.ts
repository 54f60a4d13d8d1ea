import assert from "node:assert/strict";
import { test } from "node:test";
import { bothScores, shippedTasks } from "../../testing/lm-eval-command.ts";

test("lm-eval's own command has the same accuracy for all 57 subjects and for MMLU", () => {
  const subjects = shippedTasks("mmlu/default/mmlu_*.yaml", "mmlu_");
  assert.equal(subjects.length, 57);
  const rows = Object.fromEntries(subjects.map((subject, at) => [subject, questions(subject, at)]));
  const { ours, official } = bothScores({
    scorer: "mmlu",
    folder: "mmlu",
    repository: "cais/mmlu",
    splits: "test,dev",
    tasks: "mmlu",
    rows,
  });
  assert.equal(ours.kind, "scored");
  assert.equal(ours.items, Object.values(rows).flat().length);
  for (const subject of subjects)
    assert.equal(ours.groups[subject]?.value, official[`mmlu_${subject}`]?.["acc,none"], subject);
  assert.ok(Math.abs(ours.value - (official.mmlu?.["acc,none"] ?? Number.NaN)) < 1e-12);
  const found = new Set(Object.values(ours.groups).map(({ value }) => value));
  assert.ok(found.size > 2, "every subject has the same accuracy: nothing was compared");
});

/** One to three questions, so that a mean over subjects is not the mean over items. */
function questions(subject: string, at: number): object[] {
  return Array.from({ length: 1 + (at % 3) }, (_, index) => ({
    question: `Which word of ${subject} is number ${index}?`,
    subject,
    choices: [subject.slice(0, 4), `the ${subject.slice(-3)}`, `no. ${index}`, "none"],
    answer: (at + index) % 4,
  }));
}
