import assert from "node:assert/strict";
import { test } from "node:test";
import { bothScores, shippedTasks } from "../../testing/lm-eval-command.ts";

test("lm-eval's own command has the same accuracies, by sum and by length, for all 57 subjects", () => {
  const subjects = shippedTasks("mmlu/continuation/mmlu_*.yaml", "mmlu_");
  assert.equal(subjects.length, 57);
  const rows = Object.fromEntries(subjects.map((subject, at) => [subject, questions(subject, at)]));
  const { ours, official } = bothScores({
    scorer: "mmlu-continuation",
    folder: "mmlu",
    repository: "cais/mmlu",
    splits: "test,dev",
    tasks: "mmlu_continuation",
    rows,
  });
  assert.equal(ours.kind, "scored");
  assert.equal(ours.items, Object.values(rows).flat().length);
  for (const subject of subjects)
    assert.equal(
      ours.groups[subject]?.value,
      official[`mmlu_${subject}_continuation`]?.["acc,none"],
      subject,
    );
  assert.ok(Math.abs(ours.value - (official.mmlu_continuation?.["acc,none"] ?? Number.NaN)) < 1e-12);
  const byLength = subjects.map(
    (subject) =>
      (official[`mmlu_${subject}_continuation`]?.["acc_norm,none"] ?? Number.NaN) *
      (rows[subject]?.length ?? 0),
  );
  const expected = byLength.reduce((sum, hits) => sum + hits, 0) / ours.items;
  assert.ok(Math.abs((ours.extra.accuracyByCharacter ?? 0) - expected) < 1e-12);
  assert.notEqual(ours.extra.accuracyByCharacter, ours.value, "the two ways agree: nothing was compared");
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
