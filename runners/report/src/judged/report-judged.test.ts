import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown } from "../formats/markdown.ts";
import { csvRows } from "../testing/csv-rows.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";
import { answersOf, checkedJudge } from "../testing/judge-example.ts";

/** The report of two attempts, the first of which a judge answered about. */
function reported(byQuestion?: Record<string, string> | string, { checked = false, cleared = false } = {}) {
  const example = new Example({
    presets: { plain: { kind: "llm", provider: "azure", model: { id: "gpt-x" } } },
  });
  for (const seed of [1, 2]) {
    const axes = { task: "letters", agent: "plain", seed };
    example
      .gives("attempt", axes, { submission: "sha256:x" })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2.5)));
  }
  const asked = { judge: "small", rubric: "leaks" };
  if (byQuestion)
    example.gives(
      "answers-of-judge",
      { task: "letters", agent: "plain", seed: 1, ...asked },
      { answers: typeof byQuestion === "string" ? byQuestion : answersOf(byQuestion) },
    );
  if (checked) example.gives("judge-check", asked, { check: checkedJudge() });
  if (cleared) example.decided({ task: "letters", agent: "plain", seed: 1 }, { rule: "leaks.copied" });
  const report = example.report();
  return { report, text: markdown(report), rows: csvRows(report, "answers") };
}

test("a supported yes marks the attempt, adds two sensitivity rows and changes no verdict and no cell", () => {
  const { report, text } = reported({ copied: "yes", effort: "none" });
  const { report: without } = reported();
  assert.deepEqual(report.cells, without.cells);
  assert.deepEqual(
    report.attempts.map(({ verdict }) => verdict),
    without.attempts.map(({ verdict }) => verdict),
  );
  assert.deepEqual(
    report.attempts[0]!.marks?.flatMap(({ questions }) => questions),
    ["leaks.copied"],
  );
  assert.equal(report.attempts[1]!.marks, undefined);
  assert.deepEqual(report.sensitivity.map(({ variant }) => variant).sort(), [
    "marked-as-baseline",
    "marked-as-missing",
  ]);
  assert.match(text, /1¶/);
  assert.match(text, /1 attempt is marked by a judge, for a person \(¶\)/);
  assert.deepEqual([report.judged!.attempts[0]!.family, without.judged], ["gpt", undefined]);
});

test("a mark that a person cleared is nowhere in the report", () => {
  const { report, text } = reported({ copied: "yes" }, { cleared: true });
  assert.equal(report.attempts[0]!.marks, undefined);
  assert.doesNotMatch(text, /marked for a person|¶/);
});

test("no rate of an agent is printed without the judge's false alarms beside it", () => {
  assert.match(reported({ copied: "yes" }).text, /not printed: this judge was not checked/);
  const { text } = reported({ copied: "yes" }, { checked: true });
  assert.doesNotMatch(text, /not printed: this judge was not checked/);
  assert.match(text, /false alarms/);
});

test("no, unsupported and split mark nothing; unreadable answers are a gap", () => {
  for (const answer of ["no", "cannot tell", "unsupported", "split"]) {
    const { report } = reported({ copied: answer });
    assert.equal(report.attempts[0]!.marks, undefined, answer);
    assert.deepEqual(report.sensitivity, []);
  }
  const { report } = reported("{");
  assert.match(report.coverage.gaps[0]!.cause, /^unreadable answers/);
});

test("answers.csv has a row for each question of each judge, and is left out without a judge", () => {
  const { rows } = reported({ copied: "yes", effort: "none" });
  assert.deepEqual(
    rows.map(({ task, agent, seed, rubric, question, answer, votes, marks }) => [
      task,
      agent,
      seed,
      rubric,
      question,
      answer,
      votes,
      marks,
    ]),
    [
      ["letters", "plain", "1", "leaks", "copied", "yes", "1 yes", "true"],
      ["letters", "plain", "1", "leaks", "effort", "none", "1 none", "false"],
    ],
  );
  assert.deepEqual(reported().rows, []);
});
