import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemberDecision } from "@mlrb/formats/attempt/adjudication";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { csvRows } from "../testing/csv-rows.ts";
import { Example, passed, referenceRows, scored, textItems, verdict } from "../testing/example.ts";
import { decidedKind, decisionText } from "./decisions.ts";

const decision = (changes: Partial<MemberDecision> = {}): MemberDecision => ({
  ...{ rule: "from-scratch", verdict: "pass", by: "Ada", reason: "its own weights", counts: true },
  ...changes,
});
const rule = (answer: "pass" | "fail" | "undecided", severity: "disqualify" | "note" = "disqualify") => ({
  ...{ rule: "from-scratch", title: "", evidence: "", source: "official" as const },
  answer,
  severity,
});

test("a decision that counts replaces the machine's answer, in both directions", () => {
  assert.equal(decidedKind("disqualified", [rule("fail")], [decision()]), "pass");
  assert.equal(
    decidedKind("undecided", [rule("undecided")], [decision({ verdict: "fail" })]),
    "disqualified",
  );
  assert.equal(decidedKind("pass", [rule("pass")], [decision({ verdict: "fail" })]), "disqualified");
});

test("a decision changes nothing if it does not count, is on a note or another rule, or the submission is rejected", () => {
  assert.equal(decidedKind("disqualified", [rule("fail")], [decision({ counts: false })]), "disqualified");
  assert.equal(decidedKind("pass", [rule("fail", "note")], [decision({ verdict: "fail" })]), "pass");
  assert.equal(decidedKind("disqualified", [rule("fail")], [decision({ rule: "in-time" })]), "disqualified");
  assert.equal(decidedKind("rejected", [rule("undecided")], [decision()]), "rejected");
});

test("a decision is one plain line that says who, why, from where and whether it is used", () => {
  assert.equal(decisionText(decision()), "pass, by Ada: its own weights");
  const origin = { kind: "imported", signedBy: null } as const;
  assert.equal(
    decisionText(decision({ counts: false, origin, by: "\u001b[31mEve\u202e\n" })),
    "pass, by Eve (imported, unsigned; not used): its own weights",
  );
});

/** Three seeds of one agent: the first passes, the second is as given, with decisions on it. */
function report(judged: { verdict: object }, ...decisions: (Partial<MemberDecision> & { rule: string })[]) {
  const example = new Example();
  for (const [seed, bits, found] of [
    [1, 2, passed],
    [2, 1, judged],
    [3, 2.5, passed],
  ] as const) {
    const axes = { task: "letters", agent: "plain", seed };
    example
      .gives("attempt", axes, { submission: `sha256:${seed}` })
      .gives("validate", axes, found)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(bits)));
  }
  if (decisions.length > 0) example.decided({ task: "letters", agent: "plain", seed: 2 }, ...decisions);
  const rows = referenceRows("bits", [{ name: "unigram", value: 3 }]);
  return example.gives("references", { task: "letters", scorer: "bits" }, rows).report();
}

const means = (made: ReturnType<typeof report>) =>
  made.sensitivity.map(({ variant, mean, attempts }) => [variant, mean && Number(mean.toFixed(3)), attempts]);

test("an undecided attempt enters the mean with its score, and a row shows the mean with it at the baseline", () => {
  const made = report(verdict("undecided", { answer: "undecided" }));
  const [cell] = made.cells;
  assert.deepEqual([cell!.undecided, cell!.measured, cell!.validN], [1, 3, 3]);
  assert.deepEqual(means(made), [
    ["undecided-as-pass", Number(cell!.mean!.toFixed(3)), 1],
    ["undecided-as-baseline", Number(((cell!.values[0]! + 3 + cell!.values[2]!) / 3).toFixed(3)), 1],
  ]);
});

test("a model that cannot be scored counts as the trivial baseline, and as missing in a sensitivity row", () => {
  const family = { formatVersion: 1, kind: "rejected", rules: [], facts: {}, notScorable: true };
  const made = report({ verdict: family });
  // seeds 1 and 3 have 2 and 2.5 bits; the trivial baseline has 3
  assert.equal(made.cells[0]!.mean?.toFixed(2), "2.50");
  const [row, ...others] = made.sensitivity;
  assert.deepEqual(others, []);
  assert.deepEqual([row!.variant, row!.attempts, row!.measured], ["not-scorable-as-missing", 1, 2]);
  assert.equal(row!.mean?.toFixed(2), "2.25");
  for (const text of [markdown(made), terminalTable(made, { width: 120, color: false })]) {
    assert.match(text, /rejected \(not scorable\)/);
    assert.match(text, /not scorable as missing .* 2\.25 \(1\)/);
  }
  assert.deepEqual(report({ verdict: { ...family, notScorable: undefined } }).sensitivity, []);
  const passing = report({ verdict: { ...passed.verdict, notScorable: true } });
  assert.deepEqual(passing.sensitivity, [], "only a rejected one is marked");
});

test("attempts that are all decided by the machine have no sensitivity rows", () => {
  assert.deepEqual(report(verdict("disqualified")).sensitivity, []);
  assert.doesNotMatch(markdown(report(passed)), /Sensitivity/);
});

test("a person's decision changes the mean, and a row shows the mean without it", () => {
  const machine = report(verdict("disqualified"));
  const made = report(verdict("disqualified"), { rule: "from-scratch", reason: "a shared tokenizer" });
  const [attempt] = made.attempts.filter(({ seed }) => seed === 2);
  assert(attempt!.verdict.kind !== "missing");
  assert.deepEqual([attempt!.verdict.kind, attempt!.verdict.machine], ["pass", "disqualified"]);
  assert.equal(attempt!.verdict.rules[0]!.answer, "fail", "the machine's answer stays");
  assert.notEqual(made.cells[0]!.mean, machine.cells[0]!.mean);
  assert.deepEqual(means(made), [["without-decisions", Number(machine.cells[0]!.mean!.toFixed(3)), 1]]);
  assert.deepEqual([made.coverage.attempts.pass, machine.coverage.attempts.pass], [3, 2]);
});

test("every form of the report shows a decision next to the machine's verdict", () => {
  const made = report(verdict("undecided", { answer: "undecided" }), {
    rule: "from-scratch",
    verdict: "fail",
    reason: "a shared tokenizer",
  });
  const look = { width: 200, color: false };
  for (const text of [markdown(made), terminalTable(made, look)]) {
    assert.match(text, /disqualified \(machine: undecided\)/);
    assert.match(text, /decided by a person: fail, by Ada: a shared tokenizer/);
    assert.match(text, /without decisions of people/);
  }
  const [row] = csvRows(made, "scores").filter(({ machine_verdict }) => machine_verdict === "undecided");
  assert.deepEqual([row!.verdict, row!.score], ["disqualified", "scored"]);
  for (const file of ["attempts", "scores"])
    assert.ok(
      csvRows(made, file).some(({ reason }) =>
        reason!.includes("from-scratch decided by a person: fail, by Ada: a shared tokenizer"),
      ),
    );
  assert.ok(made.sensitivity.some(({ variant }) => variant === "without-decisions"));
});

test("a decision on a rule that was not judged is shown and changes nothing", () => {
  const made = report(passed, { rule: "renamed", verdict: "fail", reason: "old name" });
  assert.equal(made.coverage.attempts.pass, 3);
  assert.match(
    markdown(made),
    /renamed: no such rule was judged; decided by a person: fail, by Ada: old name/,
  );
});

test("a decision on a question to judges is named as one, and changes no verdict and no mean", () => {
  const made = report(passed, { rule: "leaks.copied", verdict: "fail", reason: "it copied them" });
  assert.deepEqual([made.coverage.attempts.pass, made.sensitivity], [3, []]);
  assert.match(
    markdown(made),
    /leaks\.copied: a question to judges, which changes no verdict; decided by a person: fail, by Ada: it copied/,
  );
  assert.doesNotMatch(markdown(made), /no such rule was judged/);
});
