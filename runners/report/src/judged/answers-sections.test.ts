import assert from "node:assert/strict";
import { test } from "node:test";
import type { JudgeCheck } from "@mlrb/formats/judged/judge-check";
import type { JudgedAttempt } from "@mlrb/formats/report/judged";
import type { Section } from "../sections/table.ts";
import { answersOf, checkedJudge, checkOf, judgeOf } from "../testing/judge-example.ts";
import { answersSection, familiesSection, notChecked } from "./answers-sections.ts";
import { judgeGroups, marksOf } from "./judge-groups.ts";

type Answered = { agent?: string; seed?: number; family?: string | null; asked?: typeof judgeOf };

function judged(byQuestion: Record<string, string>, of: Answered = {}): JudgedAttempt {
  const { agent = "ada", seed = 1, family = "gpt", asked = judgeOf } = of;
  return { task: "letters", agent, seed, family, answers: answersOf(byQuestion, asked) };
}

/** Two attempts of each of two agents. */
const four = [
  judged({ copied: "yes", effort: "much" }),
  judged({ copied: "no", effort: "some" }, { seed: 2 }),
  judged({ copied: "split", effort: "some" }, { agent: "bob", family: "llama" }),
  judged({ copied: "unsupported", effort: "cannot tell" }, { agent: "bob", family: "llama", seed: 2 }),
];

function lines({ tables }: Section): string[] {
  return tables.flatMap(({ title, groups }) => [
    title,
    ...groups.flatMap(({ rows }) => rows.map((row) => row.map((cell) => cell.lines.join(" ")).join(" | "))),
  ]);
}

const answers = (attempts: JudgedAttempt[], ...checks: JudgeCheck[]) =>
  lines(answersSection(judgeGroups(attempts, checks), []));

test("an agent's rate stands beside the judge's false alarms on held-out trajectories", () => {
  assert.deepEqual(answers(four, checkedJudge()), [
    "local/small at 0, rubric leaks, 3 votes",
    "copied | ada | 1 no 1 yes | 0 | 0 | 0 | 0.50 0.09–0.91 | 0.50 0.09–0.91",
    "copied | bob | – | 0 | 1 | 1 | 0.00 0.00–0.66 | 0.50 0.09–0.91",
    `effort | ada | 1 much 1 some | 0 | 0 | 0 | ${notChecked} | –`,
    `effort | bob | 1 some | 1 | 0 | 0 | ${notChecked} | –`,
  ]);
});

test("a question of several answers has no rate", () => {
  const labelled = {
    trajectory: "a",
    heldOut: true,
    question: "effort",
    label: "some",
    answer: "some",
  } as const;
  assert.match(answers(four, checkOf([labelled]))[3]!, /^effort \| ada \| .* \| – \| –$/);
});

test("an open answer of the judge is no claim, in the rate and in the false alarms beside it", () => {
  const one = { heldOut: true, question: "copied", label: "no" } as const;
  const check = checkOf([
    { ...one, trajectory: "a", answer: "yes" },
    { ...one, trajectory: "b", answer: "split" },
  ]);
  const attempts = [judged({ copied: "yes" }), judged({ copied: "cannot tell" }, { seed: 2 })];
  assert.match(answers(attempts, check)[1]!, /\| 0\.50 0\.09–0\.91 \| 0\.50 0\.09–0\.91$/);
});

const unchecked = (check: JudgeCheck | undefined) =>
  answers([judged({ copied: "yes" })], ...(check ? [check] : []))[1]!.includes(`| ${notChecked} | –`);

test("no rate is printed by a judge without a check, or with one of other settings or of another snapshot", () => {
  assert.equal(unchecked(checkedJudge()), false);
  assert.equal(unchecked(undefined), true);
  const { judge } = judgeOf;
  for (const other of [
    { ...judgeOf, votes: 5 },
    { ...judgeOf, promptVersion: 2 },
    { ...judgeOf, rubric: { name: "leaks", digest: "cd".repeat(32) } },
    { ...judgeOf, judge: { ...judge, temperature: 1 } },
    { ...judgeOf, judge: { ...judge, id: "large" } },
    { ...judgeOf, judge: { ...judge, answeredBy: ["small-2025-01"] } },
  ])
    assert.equal(unchecked(checkedJudge(other)), true, JSON.stringify(other));
});

test("a check without a held-out trajectory that shows false alarms prints no rate", () => {
  const one = { trajectory: "a", question: "copied", label: "no", answer: "no" } as const;
  assert.equal(unchecked(checkOf([{ ...one, heldOut: true }])), false);
  assert.equal(unchecked(checkOf([{ ...one, heldOut: false }])), true);
  assert.equal(unchecked(checkOf([{ ...one, heldOut: true, label: "yes" }])), true);
});

test("judges of different models have their own tables and columns, and no number of both", () => {
  const other = { ...judgeOf, judge: { ...judgeOf.judge, id: "large", family: "gpt" } };
  const both = judgeGroups([...four, judged({ copied: "yes" }, { asked: other })], []);
  assert.deepEqual(
    answersSection(both, []).tables.map(({ title }) => title),
    ["local/large at 0, rubric leaks, 3 votes", "local/small at 0, rubric leaks, 3 votes"],
  );
  const families = familiesSection(both);
  assert.deepEqual(families.tables[0]!.columns.map(({ head }) => head).slice(2), [
    "gpt: local/large at 0, rubric leaks, 3 votes",
    "llama: local/small at 0, rubric leaks, 3 votes",
  ]);
  assert.deepEqual(lines(families), [
    "rubric leaks",
    "copied | gpt | 1 yes | 1 no 1 yes",
    "copied | llama | – | 1 split 1 unsupported",
    "effort | gpt | – | 1 much 1 some",
    "effort | llama | – | 1 cannot tell 1 some",
  ]);
});

test("the caption of each judge has its snapshots, temperature, days, digest and votes", () => {
  const { caption, items } = answersSection(judgeGroups(four, []), []);
  assert.deepEqual(items.slice(0, 1), [
    {
      head: "local/small at 0, rubric leaks, 3 votes",
      text: "answered by small-2026-11, temperature 0, on 2026-11-30, rubric digest ababababab, prompt version 1, 3 votes",
    },
  ]);
  assert.match(caption, /never averaged\. Votes of one model measure repeatability, not truth\.$/);
});

test("a marked attempt is listed with its questions and judge, and no other one is", () => {
  const groups = judgeGroups(four, []);
  const mark = { judge: "local/small at 0, rubric leaks, 3 votes", questions: ["leaks.copied"] };
  assert.deepEqual(marksOf(groups, { task: "letters", agent: "ada", seed: 1 }), [mark]);
  for (const other of [{ task: "numbers" }, { agent: "bob" }, { seed: 2 }])
    assert.deepEqual(marksOf(groups, { task: "letters", agent: "ada", seed: 1, ...other }), []);
  assert.deepEqual(
    answersSection(groups, [{ task: "letters", agent: "ada", seed: 1, marks: [mark] }]).items.slice(1),
    [{ head: "letters, ada 1", text: `marked for a person: leaks.copied (${mark.judge})` }],
  );
});
