import assert from "node:assert/strict";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import type { Member } from "@mlrb/formats/stage/collected";
import { markdown } from "../formats/markdown.ts";
import { Example, passed, referenceRows, scored, textItems, verdict } from "../testing/example.ts";
import { sensitivity } from "./sensitivity.ts";

/** Three seeds of one agent; `marks` are of the second. */
function report(marks: Pick<Member, "resumed" | "interventions">) {
  const example = new Example();
  for (const [seed, bits] of [
    [1, 2],
    [2, 1],
    [3, 2.5],
  ] as const) {
    const axes = { task: "letters", agent: "plain", seed };
    example
      .gives("attempt", axes, { submission: `sha256:${seed}` })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(bits)));
  }
  const member = example.members.find(({ role, axes }) => role === "attempt" && axes.seed === 2)!;
  Object.assign(member, marks);
  const rows = referenceRows("bits", [{ name: "unigram", value: 3 }]);
  return example.gives("references", { task: "letters", scorer: "bits" }, rows).report();
}

test("a resumed attempt counts, and a sensitivity row has the mean without it", () => {
  const made = report({ resumed: 2 });
  assert.equal(made.cells[0]!.measured, 3);
  const [row, ...others] = made.sensitivity;
  assert.deepEqual(others, []);
  assert.deepEqual([row!.variant, row!.attempts, row!.measured], ["without-resumed", 1, 2]);
  assert.equal(row!.mean?.toFixed(2), "2.25");
  const text = markdown(made);
  assert.match(text, /without resumed attempts .* 2\.25 \(1\)/);
  assert.match(text, /\\# resumed 2 times after its supervisor or host died/);
  assert.match(text, /1 attempt was resumed after a supervisor or host died \(\\#\)\./);
});

test("an attempt whose settings are undecided is no missing one alone: a sensitivity row counts it as the baseline", () => {
  const example = new Example();
  const open = {
    rule: "known-settings",
    answer: "undecided",
    evidence: "the head differs from the embedding",
  };
  for (const seed of [1, 2, 3]) {
    const axes = { task: "letters", agent: "plain", seed };
    example.gives("attempt", axes, { submission: `sha256:${seed}` });
    example.gives("validate", axes, seed === 2 ? verdict("undecided", open) : passed);
    if (seed !== 2) example.gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
  }
  const rows = referenceRows("bits", [{ name: "unigram", value: 3 }]);
  const made = example.gives("references", { task: "letters", scorer: "bits" }, rows).report();
  assert.deepEqual([made.cells[0]!.measured, made.cells[0]!.mean?.toFixed(2)], [2, "2.00"]);
  const [row, ...others] = made.sensitivity;
  assert.deepEqual(others, []);
  assert.deepEqual([row!.variant, row!.attempts, row!.measured], ["undecided-as-baseline", 1, 3]);
  assert.equal(row!.mean?.toFixed(2), "2.33");
});

test("without a restart no table speaks of one", () => {
  assert.deepEqual(report({}).sensitivity, []);
  assert.doesNotMatch(markdown(report({})), /resumed/);
});

test("an extended attempt is in no mean and no n, every table says why, and a sensitivity row has the mean with it", () => {
  const interventions = { extensions: 1, addedMs: 7_200_000, addedDollars: 5 };
  const made = report({ resumed: 1, interventions });
  const [cell] = made.cells;
  assert.deepEqual([cell!.measured, cell!.planned, cell!.mean?.toFixed(2)], [2, 3, "2.25"]);
  const [row, ...others] = made.sensitivity;
  assert.deepEqual(others, [], "that it was resumed changes no mean");
  assert.deepEqual([row!.variant, row!.attempts, row!.measured], ["with-interventions", 1, 3]);
  assert.equal(row!.mean?.toFixed(3), "1.834");
  const text = markdown(made);
  assert.match(text, /with extended attempts .* 1\.83\d* \(1\)/);
  assert.match(text, /⊕ extended by 2 h 0 m and 5 dollars/);
  assert.match(text, /1 attempt is in no mean and no test: a person extended it \(⊕\)\./);
});

test("each judge's marked attempts count as the baseline in one row and as missing in another, and under Results as scored", () => {
  const made = report({});
  const marks = [{ judge: "one", questions: ["copied"] }];
  const attempts = made.attempts.map((attempt) =>
    attempt.seed === 2
      ? { ...attempt, marks }
      : attempt.seed === 3
        ? { ...attempt, marks: [{ ...marks[0]!, judge: "two" }] }
        : attempt,
  );
  const marked = { ...made, attempts, sensitivity: sensitivity(made.cells, attempts) };
  assert.deepEqual(
    marked.sensitivity.map((row) => [
      row.judge,
      row.variant,
      row.attempts,
      row.measured,
      row.mean?.toFixed(2),
    ]),
    [
      ["one", "marked-as-baseline", 1, 3, "2.50"],
      ["one", "marked-as-missing", 1, 2, "2.25"],
      ["two", "marked-as-baseline", 1, 3, "2.00"],
      ["two", "marked-as-missing", 1, 2, "1.50"],
    ],
  );
  assert.equal(mustFollow(reportFormat, marked, "the report").cells[0]!.measured, 3);
  const text = markdown(marked);
  assert.match(text, /marked as trivial baseline: one .* 2\.50\d* \(1\)/);
  assert.match(text, /marked as missing: two .* 1\.50\d* \(1\)/);
  assert.match(text, /A judge's answer marks an attempt for a person/);
  assert.doesNotMatch(markdown(made), /marked as|Each judge/);
});

test("a marked attempt that is missing stays missing: a judge makes no number of it", () => {
  const made = report({});
  const attempts = made.attempts.map((attempt) => ({
    ...attempt,
    marks: [{ judge: "one", questions: ["copied"] }],
    ...(attempt.seed === 2 && { verdict: { kind: "missing" as const, cause: "a disk died" } }),
  }));
  const [baseline] = sensitivity(made.cells, attempts);
  assert.deepEqual([baseline!.variant, baseline!.attempts, baseline!.measured], ["marked-as-baseline", 2, 2]);
});
