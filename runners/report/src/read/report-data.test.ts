import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import fc from "fast-check";
import { groupsMarkdown } from "../formats/groups.ts";
import { json } from "../formats/json.ts";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { csvRows, csvText } from "../testing/csv-rows.ts";
import {
  Example,
  pairItems,
  passed,
  referenceRows,
  rejectedScore,
  scored,
  textItems,
  verdict,
} from "../testing/example.ts";
import { latex } from "../testing/latex.ts";
import { nastyExample } from "../testing/nasty-example.ts";

const task = "letters";
type Fate = number | "missing" | "rejected" | "disqualified" | "non-finite" | "score-failed";

/** One agent and one attempt per fate at `bits`, whose baseline is the row unigram at 3. */
function fates(list: Fate[], { baseline = true } = {}): Cell {
  const example = new Example();
  if (baseline)
    example.gives(
      "references",
      { task, scorer: "bits" },
      referenceRows("bits", [{ name: "unigram", value: 3 }]),
    );
  else example.fails("references", { task, scorer: "bits" }, "failed", "exit code 1");
  for (const [index, fate] of list.entries()) {
    const axes = { task, agent: "plain", seed: index + 1 };
    const score = { ...axes, scorer: "bits" };
    if (fate === "missing") {
      example.fails("attempt", axes, "failed", "no sandbox");
      example.fails("validate", axes, "skipped", "attempt failed");
      example.fails("score", score, "skipped", "attempt failed");
      continue;
    }
    example.gives("attempt", axes, { submission: `sha256:${index}` });
    example.gives("validate", axes, fate === "rejected" || fate === "disqualified" ? verdict(fate) : passed);
    if (fate === "score-failed") example.fails("score", score, "failed", "timeout");
    else if (fate === "rejected" || fate === "non-finite")
      example.gives("score", score, rejectedScore("bits", "non-finite output"));
    else
      example.gives(
        "score",
        score,
        scored("bits", [{ id: "a", value: fate === "disqualified" ? 1 : fate, weight: 1 }]),
      );
  }
  return example.report().cells[0]!;
}

test("two valid attempts have their mean and a Student interval with one degree of freedom", () => {
  const cell = fates([2, 2.5]);
  assert.equal(cell.mean, 2.25);
  assert.ok(Math.abs(cell.validInterval![1] - (2.25 + 12.7062 * 0.25)) < 1e-4);
  assert.deepEqual([cell.measured, cell.planned, cell.validMean, cell.validN], [2, 2, 2.25, 2]);
  assert.deepEqual(cell.notes, []);
});

test("attempts that the agent made fail are scored at the trivial baseline, so that dropping them cannot help", () => {
  for (const failure of ["rejected", "disqualified", "non-finite"] as const) {
    const cell = fates([2, failure]);
    assert.equal(cell.mean, 2.5, failure);
    assert.deepEqual([cell.measured, cell.planned, cell.validMean, cell.validN], [2, 2, 2, 1]);
    assert.deepEqual(cell.counted, [2, 3]);
  }
});

test("a disqualified attempt's value is shown, and the trivial baseline is counted", () => {
  assert.deepEqual(fates([2, "disqualified"]).values, [2, 1]);
  assert.deepEqual(fates([2, "rejected"]).values, [2, null]);
});

test("attempts that the harness made fail are missing, and the mean is over the others", () => {
  for (const failure of ["missing", "score-failed"] as const) {
    const cell = fates([2, 2.2, 2.4, 2.6, failure]);
    assert.ok(Math.abs(cell.mean! - 2.3) < 1e-12);
    assert.deepEqual([cell.measured, cell.planned], [4, 5]);
    assert.deepEqual(cell.counted.at(-1), null);
    assert.ok(cell.validInterval, "one of five is 20 %, not over it");
    assert.match(cell.notes[0]!, /^not measured: (attempt failed: no sandbox|score failed: timeout)$/);
  }
});

test("over 20 % missing attempts leave no interval, with the reason", () => {
  const cell = fates([2, 2.5, 3, "missing"]);
  assert.equal(cell.mean, 2.5);
  assert.deepEqual(
    [cell.validInterval, cell.validIntervalWithheld, cell.passInterval],
    [null, "too-many-missing", null],
  );
  assert.ok(cell.notes.includes("no intervals: 1 of 4 attempts are missing (at most 20 % may be)"));
});

test("one attempt has a mean and no interval, and no attempt has neither", () => {
  assert.equal(fates([2]).mean, 2);
  assert.deepEqual([fates([2]).validInterval, fates([2]).validIntervalWithheld], [null, "one-value"]);
  const none = fates(["missing", "missing"]);
  assert.deepEqual([none.mean, none.validInterval, none.measured, none.validMean], [null, null, 0, null]);
  assert.deepEqual([none.meanWithheld, none.validIntervalWithheld], ["nothing-measured", "no-values"]);
  assert.deepEqual(none.notes, ["not measured: attempt failed: no sandbox"]);
});

test("equal values have a mean and no interval", () => {
  const cell = fates([2, 2, 2]);
  assert.deepEqual([cell.mean, cell.validInterval, cell.validIntervalWithheld], [2, null, "no-spread"]);
  assert.ok(
    cell.notes.some((note) => note.startsWith("no interval of the valid mean: these attempts count")),
  );
  assert.equal(fates([2, 2, 2.5]).validIntervalWithheld, null);
  assert.deepEqual(fates([3.5, 3.6]).validIntervalWithheld, "no-spread", "values that count as the baseline");
});

test("disqualified and rejected attempts do not enter the errors of valid ones", () => {
  assert.equal(
    fates([2, 2.5, "disqualified"]).errors.betweenAttempts,
    fates([2, 2.5]).errors.betweenAttempts,
  );
  assert.deepEqual(fates(["rejected"]).errors, { betweenAttempts: null, overItems: null, overItemsIs: null });
});

test("without a trivial baseline a failed attempt leaves no mean", () => {
  const cell = fates([2, "rejected"], { baseline: false });
  assert.deepEqual([cell.mean, cell.validInterval, cell.baseline, cell.validMean], [null, null, null, 2]);
  assert.deepEqual([cell.meanWithheld, cell.validIntervalWithheld], ["baseline-unknown", "one-value"]);
  assert.ok(
    cell.notes.includes("no mean: 1 attempt would be scored at the trivial baseline, which is unknown"),
  );
  assert.ok(
    cell.notes.includes(
      "trivial baseline not measured: the row unigram is missing: references failed: exit code 1",
    ),
  );
  assert.equal(fates([2, 2.5], { baseline: false }).mean, 2.25);
});

test("attempts that all failed have a mean, a pass rate of 0 with its interval, and no valid mean", () => {
  const cell = fates(["rejected", "rejected"]);
  assert.deepEqual([cell.mean, cell.validInterval, cell.validN], [3, null, 0]);
  assert.equal(cell.passInterval![0], 0);
});

test("a rule decided over all attempts of a task is listed with an attempt and can disqualify it", () => {
  const rule = { rule: "own-weights", title: "Own weights", evidence: "as another's", source: "interpreted" };
  const attempts = [
    { agent: "plain", seed: 1, rules: [{ ...rule, answer: "undecided", severity: "note" }] },
    { agent: "plain", seed: "1", rules: [{ ...rule, answer: "fail", severity: "disqualify" }] }, // another seed
    { agent: "plain", seed: 2, rules: [{ ...rule, answer: "fail", severity: "disqualify" }] },
    { agent: "plain", seed: 3, rules: [{ ...rule, answer: "fail", severity: "disqualify" }] },
  ];
  const example = new Example();
  for (const seed of [1, 2, 3]) {
    example.gives("attempt", { task, agent: "plain", seed }, { submission: `sha256:${seed}` });
    example.gives("validate", { task, agent: "plain", seed }, seed === 3 ? verdict("rejected") : passed);
  }
  example.gives("kinship", { task }, { kinship: { formatVersion: 1, attempts } });
  const report = example.report();
  const found = report.attempts.map(({ verdict }) =>
    verdict.kind === "missing" ? [] : [verdict.kind, verdict.rules.at(-1)?.rule],
  );
  assert.deepEqual(found, [
    ["pass", "own-weights"],
    ["disqualified", "own-weights"],
    ["rejected", "own-weights"],
  ]);
  assert.match(markdown(report), /own-weights: undecided \(note, interpreted\): Own weights – as another's/);
  assert.equal(report.coverage.attempts.disqualified, 1);
});

test("identical files are a note, and of a seeded agent one observation without intervals", () => {
  const example = new Example();
  const seeded = new Example({ seeded: { plain: true } });
  for (const seed of [1, 2]) {
    const axes = { task, agent: "plain", seed };
    example
      .gives("attempt", axes, { submission: "sha256:same" })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
  }
  const [cell] = example.report().cells;
  assert.ok(cell!.notes.includes("2 of 2 attempts submitted identical files: seeds 1 and 2."));
  assert.deepEqual([cell!.identical, cell!.observations], [[2], 2]);
  assert.ok(cell!.passInterval && example.report().coverage.agents[0]!.passInterval);
  seeded.members.push(...example.members);
  for (const [path, text] of example.texts) seeded.texts.set(path, text);
  const report = seeded.report();
  const [repeated] = report.cells;
  assert.deepEqual([repeated!.observations, repeated!.mean], [1, cell!.mean]);
  assert.deepEqual([repeated!.passInterval, repeated!.validIntervalWithheld], [null, "repeated"]);
  assert.equal(report.coverage.agents[0]!.passInterval, null);
  assert.ok(
    repeated!.notes.includes("Seeds 1 and 2 are repeats without randomness: they submitted identical files."),
  );
});

/** A report of one attempt whose files are replaced by `artifacts`. */
function oneAttempt(artifacts: {
  score?: unknown;
  samples?: string;
  verdict?: unknown;
  rows?: unknown;
}): Report {
  const axes = { task, agent: "plain", seed: 1 };
  const right = scored("bits", textItems(2));
  return new Example()
    .gives("references", { task, scorer: "bits" }, { rows: artifacts.rows ?? referenceRows("bits", []).rows })
    .gives("attempt", axes, { submission: "sha256:one" })
    .gives("validate", axes, { verdict: artifacts.verdict ?? passed.verdict })
    .gives("score", { ...axes, scorer: "bits" }, { ...right, ...artifacts })
    .report();
}

test("a score that cannot be read is not measured", () => {
  const good = scored("bits", textItems(2)).score;
  const cases: [unknown, RegExp][] = [
    ["", /not JSON/],
    ["{", /not JSON/],
    ["[".repeat(100_000), /not JSON/],
    ["null", /the file is null/],
    [[], /the file is a list/],
    [{ ...good, formatVersion: 2 }, /formatVersion is 2, not 1/],
    [{ ...good, formatVersion: undefined }, /formatVersion is missing/],
    [{ ...good, kind: "excellent" }, /kind is "excellent", not one of scored, rejected/],
    [{ ...good, value: undefined }, /value is missing/],
    [{ ...good, value: null }, /value is null/],
    [{ ...good, value: "NaN" }, /value is "NaN", not a finite number/],
    [JSON.stringify(good).replace(/"value":[^,]+/, '"value":1e999'), /value is Infinity/],
    [{ ...good, standardError: -1 }, /standardError is -1: it must be >= 0/],
    [{ ...good, standardError: undefined }, /standardError is missing/],
    [{ ...good, scorer: "pairs" }, /its scorer is not "bits"/],
    [{ ...good, direction: "higher" }, /its direction is not "lower"/],
    [{ ...good, unit: "nats" }, /its unit is not "bits\/byte"/],
    [{ ...good, groups: [] }, /groups is a list/],
    [{ ...good, groups: { a: { value: 1 } } }, /groups.a.items is missing/],
    [{ ...good, extra: { tiesHalf: "high" } }, /extra.tiesHalf is "high"/],
    [{ ...good, kind: "rejected" }, /reason is missing/],
  ];
  for (const [score, cause] of cases) {
    const report = oneAttempt({ score });
    const entry = report.attempts[0]!.scores.bits!;
    assert.ok(entry.kind === "not-measured", JSON.stringify(score));
    assert.match(entry.cause, /^unreadable score \(/);
    assert.match(entry.cause, cause);
    assert.deepEqual([report.cells[0]!.mean, report.cells[0]!.measured], [null, 0]);
    assert.equal(report.coverage.gaps[0]!.outcome, "unreadable");
    for (const text of [json(report), markdown(report), csvText(report)])
      assert.doesNotMatch(text, /undefined/);
  }
});

test("the scores of a submission with undecided settings are not measured, and the cause names the setting", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const evidence = 'config.json: "x" is unknown';
  const note = { rule: "known-settings", title: "Known", answer: "undecided", evidence };
  const open = { ...passed.verdict, rules: [{ ...note, source: "interpreted", severity: "note" }] };
  const report = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, { verdict: open })
    .fails("score", { ...axes, scorer: "bits" }, "failed", "exit status 1")
    .report();
  const cause = `undecided: ${evidence}`;
  assert.deepEqual(report.attempts[0]!.scores.bits, { kind: "not-measured", cause });
  assert.deepEqual([report.cells[0]!.mean, report.cells[0]!.measured], [null, 0]);
});

test("a score without a readable verdict is shown and not counted", () => {
  const contradiction = { ...verdict("pass").verdict };
  for (const [text, cause] of [
    ["", /not JSON/],
    [contradiction, /its verdict is pass, but its rules make it disqualified/],
    [{ ...passed.verdict, kind: "fine" }, /kind is "fine"/],
    [{ ...passed.verdict, rules: {} }, /rules is an object/],
    [verdict("disqualified", { severity: "death" }).verdict, /rules.0.severity is "death"/],
    [{ ...passed.verdict, facts: { a: [] } }, /facts.a is a list/],
  ] as const) {
    const report = oneAttempt({ verdict: text });
    const { verdict, scores } = report.attempts[0]!;
    assert.ok(verdict.kind === "missing");
    assert.match(verdict.cause, cause);
    assert.equal(scores.bits!.kind, "scored");
    assert.deepEqual([report.cells[0]!.mean, report.cells[0]!.values.length], [null, 1]);
    assert.equal(typeof report.cells[0]!.values[0], "number");
  }
});

test("references that cannot be read leave no row and an unknown trivial baseline", () => {
  for (const rows of [
    "",
    { ...referenceRows("bits", []).rows, scorer: "pairs" },
    referenceRows("bits", [{ name: "unigram", value: "3" as never }]).rows,
  ]) {
    const report = oneAttempt({ rows });
    assert.deepEqual(report.rows, []);
    assert.equal(report.cells[0]!.baseline, null);
    assert.match(report.cells[0]!.notes.join(), /trivial baseline not measured: .*unreadable references/);
  }
  assert.match(
    oneAttempt({}).cells[0]!.notes.join(),
    /no trivial baseline: no measured row is named unigram/,
  );
});

test("a trivial baseline that names a rejected row is not measured, with the reason", () => {
  const rows = referenceRows("bits", [
    { name: "unigram", rejected: "ties" },
    { name: "bigram", value: 2 },
  ]).rows;
  const report = oneAttempt({ rows });
  const [cell] = report.cells;
  assert.deepEqual([cell!.baseline, cell!.baselineName], [null, null]);
  assert.ok(cell!.notes.includes("trivial baseline not measured: the row unigram was rejected: ties"));
  assert.deepEqual(
    report.rows.map(({ name, baseline, value, rejected }) => [name, baseline, value, rejected]),
    [
      ["bigram", false, 2, null],
      ["unigram", true, null, "ties"],
    ],
    "a rejected row comes last, and is still shown to be the baseline",
  );
  assert.deepEqual(report.rows[1]!.standings, [{ agent: "plain", kind: "unknown" }]);
  const shown = terminalTable(report, { width: 120, color: false });
  assert.match(shown, /unigram \(trivial baseline\) │ rejected/);
  assert.match(shown, /letters, unigram: bits: rejected: ties/);
  assert.match(markdown(report), /\| \*\*rejected\*\* \|/);
});

test("a failed attempt with a rejected trivial baseline leaves no mean", () => {
  const axes = { task, agent: "plain", seed: 1 };
  const [cell] = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, rejectedScore("bits", "non-finite output"))
    .gives(
      "references",
      { task, scorer: "bits" },
      referenceRows("bits", [{ name: "unigram", rejected: "ties" }]),
    )
    .report().cells;
  assert.deepEqual([cell!.mean, cell!.counted], [null, [null]]);
});

test("a row that has a value and is rejected is unreadable", () => {
  const rows = referenceRows("bits", [{ name: "unigram", value: 3, rejected: "ties" }]).rows;
  assert.match(
    oneAttempt({ rows }).cells[0]!.notes.join(),
    /rows\.0 has value and rejected, and may have one of them/,
  );
});

test("the reason why answers are missing is shown once, with the scores that lack them", () => {
  const axes = { task, agent: "plain", seed: 1 };
  const report = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .fails("generate", axes, "failed", "out-of-memory: 5 GiB")
    .fails("score", { ...axes, scorer: "bits" }, "skipped", "needs generate")
    .fails("reference-answers", { task }, "failed", "exit-code: 1")
    .report();
  assert.deepEqual(
    report.coverage.gaps.map(({ stage, cause }) => `${stage.replace(/\[.*/, "")}: ${cause}`),
    ["generate: out-of-memory: 5 GiB", "reference-answers: exit-code: 1", "score: needs generate"],
  );
  assert.equal(report.attempts.length, 1);
  assert.match(markdown(report), /failed: out-of-memory: 5 GiB/);
});

function duel(first: ReturnType<typeof scored>, second: ReturnType<typeof scored>) {
  const example = new Example();
  for (const [agent, score] of [
    ["plain", first],
    ["strong", second],
  ] as const) {
    const axes = { task, agent, seed: 1 };
    example
      .gives("attempt", axes, { submission: agent })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: score.score.scorer }, score);
  }
  return example.report().comparisons[0]!;
}

test("the better of two agents is the lower one where lower is better", () => {
  const found = duel(scored("bits", textItems(3, 0.1)), scored("bits", textItems(2)));
  assert.ok(found.kind === "compared");
  assert.deepEqual(found.agents, ["plain", "strong"]);
  assert.ok(found.difference > 0.99);
  assert.deepEqual([found.better, found.clear, found.items], ["strong", true, 25]);
});

test("a difference ≤ 2 standard errors has a direction and is not clear; equal scores have none", () => {
  const near = duel(scored("pairs", pairItems(100)), scored("pairs", pairItems(101)));
  assert.ok(near.kind === "compared");
  assert.deepEqual([near.better, near.clear], ["strong", false]);
  const level = duel(scored("pairs", pairItems(100)), scored("pairs", pairItems(100)));
  assert.ok(level.kind === "compared");
  assert.deepEqual([level.better, level.clear, level.difference], [null, false, 0]);
});

test("the error is over clusters where the items' groups vary together", () => {
  const half = (index: number) => (index < 100 ? "low" : index < 150 ? "mid" : "high");
  const all = pairItems(200, 200, half);
  const without = all.map((item) => (item.group === "low" ? { ...item, value: 0 } : item));
  const found = duel(scored("pairs", all), scored("pairs", without));
  assert.ok(found.kind === "compared");
  assert.equal(found.clusters, 3);
  assert.ok(found.clusteredStandardError! > 5 * found.standardError!);
  assert.equal(found.clear, false);
});

test("samples of another test, or of another score, are not compared", () => {
  const good = scored("bits", textItems(2));
  const cases: [Partial<typeof good>, RegExp][] = [
    [scored("bits", textItems(2).slice(1)), /the items differ/],
    [{ samples: scored("bits", textItems(1)).samples }, /strong: its samples do not reproduce its score/],
    [{ samples: "{}\n" }, /strong: unreadable samples \(line 1: id is missing\)/],
    [{ samples: "" }, /do not reproduce/],
    [{ samples: good.samples.slice(0, -20) }, /unreadable samples \(line \d+: not JSON/],
  ];
  for (const [change, why] of cases) {
    const found = duel(good, { ...good, ...change });
    assert.ok(found.kind === "not-compared");
    assert.match(found.why, why);
  }
});

test("each references row compares each agent with it, in the metric's direction", () => {
  const { rows } = nastyExample().report();
  const bits = rows.filter((row) => row.metric === "bits");
  assert.deepEqual(
    bits.map((row) => [row.name, row.baseline, ...row.standings.map(({ kind }) => kind)]),
    [
      ["bigram", false, "worse", "worse"],
      ["unigram", true, "better", "better"],
    ],
  );
});

test("a report of a run without attempts states that none were planned", () => {
  for (const members of [
    [],
    new Example().fails("references", { task, scorer: "bits" }, "not-run", "").members,
  ]) {
    const report = new Example().report(members);
    assert.deepEqual([report.attempts, report.cells, report.comparisons], [[], [], []]);
    assert.match(terminalTable(report, { width: 80, color: false }), /No attempts were planned\./);
    assert.match(markdown(report), /No attempts were planned\./);
    assert.equal(csvText(report).split("\r\n").length, 4, "only the heads of the files that always exist");
  }
});

test("names such as __proto__ and constructor are ordinary names", () => {
  const axes = { task: "__proto__", agent: "constructor", seed: "toString" };
  const example = new Example({ directions: { bits: "lower" } })
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
  const report = example.report();
  assert.equal(report.cells[0]!.task, "__proto__");
  assert.match(markdown(report), /\\_\\_proto\\_\\_/);
});

test("wrong parameters and members without a place throw with their name", () => {
  assert.throws(
    () => new Example({ digits: { bits: 2.5 } }).report(),
    /params of .* stage: digits\.bits is 2\.5, not a whole number/,
  );
  assert.throws(
    () => new Example({ seeded: { plain: "yes" } }).report(),
    /seeded\.plain is "yes", not true or false/,
  );
  assert.throws(() => new Example({ baselines: "none" }).report(), /baselines is "none", not an object/);
  assert.throws(
    () => fatesOf({ directions: {} }),
    /params\.directions\.bits is missing: say higher or lower/,
  );
  const twice = new Example().fails("attempt", { task, agent: "plain", seed: 1 }, "failed", "");
  assert.throws(
    () => twice.report([...twice.members, ...twice.members]),
    /two collected stages have the same place/,
  );
  const lost = new Example().fails("score", { task, seed: 1, scorer: "bits" }, "failed", "");
  assert.throws(() => lost.report(), /a report needs the axis agent of the stage score/);
});

function fatesOf(params: Record<string, unknown>) {
  const axes = { task, agent: "plain", seed: 1, scorer: "bits" };
  return new Example(params).fails("score", axes, "failed", "").report();
}

test("the members' order changes no byte of any form", () => {
  const example = nastyExample();
  const forms = (report: Report) => [
    json(report),
    markdown(report),
    csvText(report),
    groupsMarkdown(report),
    latex(report),
    terminalTable(report, { width: 80, color: true }),
  ];
  const expected = forms(example.report());
  fc.assert(
    fc.property(fc.shuffledSubarray(example.members, { minLength: example.members.length }), (members) => {
      assert.deepEqual(forms(example.report(members)), expected);
    }),
    { numRuns: 20 },
  );
});

test("an attempt that was accepted as stale is marked, with the reason in every form", () => {
  const example = new Example();
  const axes = { task, agent: "plain", seed: 1 };
  example.gives("attempt", axes, { submission: "sha256:x" }).gives("validate", axes, passed);
  example.gives("score", { ...axes, scorer: "bits" }, scored("bits", [{ id: "a", value: 2, weight: 1 }]));
  example.members.find(({ name }) => name === "attempt")!.note = "stale, accepted: the prompt had a typo";
  const report = example.report();
  assert.ok(report.cells[0]!.notes.includes("seed 1: stale, accepted: the prompt had a typo"));
  assert.match(terminalTable(report, { width: 100, color: false }), /│ +1† │/);
  for (const text of [markdown(report), csvText(report), json(report)])
    assert.match(text, /the prompt had a typo/);
});

test("the interval of valid attempts is cut at the metric's range in report.json and in tables", () => {
  const example = new Example();
  for (const [index, right] of [199, 150].entries()) {
    const axes = { task: "letters", agent: "plain", seed: index + 1 };
    example
      .gives("attempt", axes, { submission: `sha256:${index}` })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "pairs" }, scored("pairs", pairItems(right)));
  }
  const report = example.report();
  const [cell] = report.cells;
  assert.deepEqual([cell!.validInterval, cell!.validIntervalCut], [[0, 1], { low: true, high: true }]);
  for (const text of [markdown(report), terminalTable(report, { width: 120, color: false })]) {
    assert.match(text, /cut\s+to\s+the\s+metric/);
    assert.match(text, /0\.00.*, .*1\.00/);
  }
  const whole = fates([2, 2.5]);
  assert.deepEqual(
    whole.validIntervalCut,
    { low: true, high: false },
    "bits are not under 0, and have no most",
  );
  assert.equal(whole.validInterval![0], 0);
  assert.ok(Math.abs(whole.validInterval![1] - (2.25 + 12.7062 * 0.25)) < 1e-4);
  const free = new Example({ ranges: {} });
  free.members.push(...example.members);
  for (const [path, text] of example.texts) free.texts.set(path, text);
  assert.ok(free.report().cells[0]!.validInterval![1] > 2, "a scorer without a range has no end");
});

test("a score out of the metric's range is unreadable, except by rounding", () => {
  const found = (value: number) => {
    const axes = { task: "letters", agent: "plain", seed: 1 };
    return new Example()
      .gives("attempt", axes, { submission: "sha256:x" })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "pairs" }, scored("pairs", [{ id: "a", value, weight: 1 }]))
      .report().attempts[0]!.scores.pairs!;
  };
  assert.equal(found(1 + 1e-12).kind, "scored");
  assert.deepEqual(found(1.2), {
    kind: "not-measured",
    cause: "unreadable score (value 1.2 is above the maximum 1)",
  });
  assert.deepEqual(found(-0.2), {
    kind: "not-measured",
    cause: "unreadable score (value -0.2 is below the minimum 0)",
  });
});

test("an attempt with an undecided disqualifying rule is counted apart and enters the mean with its score", () => {
  const report = oneAttempt(verdict("undecided", { rule: "given-data", answer: "undecided" }));
  const { pass, undecided, disqualified } = report.coverage.attempts;
  assert.deepEqual([pass, undecided, disqualified], [0, 1, 0]);
  assert.deepEqual(
    report.coverage.agents.map(({ pass, undecided, judged }) => [pass, undecided, judged]),
    [[0, 1, 1]],
  );
  const [cell] = report.cells;
  assert.deepEqual([cell!.mean, cell!.undecided, cell!.measured], [cell!.values[0], 1, 1]);
  assert.match(markdown(report), /\| plain\S* [^|]*\| 1 \| 0\/1 \| 1 \|/);
  assert.match(markdown(report), /given-data: undecided \(disqualify, official\)/);
  assert.deepEqual(
    csvRows(report, "scores").map(({ verdict, score }) => [verdict, score]),
    [["undecided", "scored"]],
  );
});

test("a verdict whose kind its rules contradict is unreadable", () => {
  const kindOf = (kind: string, answer: string) =>
    oneAttempt({ verdict: verdict(kind, { answer }).verdict }).attempts[0]!.verdict.kind;
  assert.equal(kindOf("pass", "undecided"), "missing");
  assert.equal(kindOf("undecided", "fail"), "missing");
  assert.equal(kindOf("undecided", "pass"), "missing");
  assert.equal(kindOf("undecided", "undecided"), "undecided");
});
