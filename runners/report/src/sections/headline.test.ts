import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison, TaskComparison } from "@mlrb/formats/report/agent-comparison";
import type { Cell } from "@mlrb/formats/report/cell";
import { latexText } from "../formats/latex-text.ts";
import { markdown } from "../formats/markdown.ts";
import { terminalMainTable, terminalTable } from "../formats/terminal-table.ts";
import { page } from "../page/page.ts";
import { Example, passed, referenceRows, scored, textItems, verdict } from "../testing/example.ts";
import { largeExample } from "../testing/large-example.ts";
import { latex } from "../testing/latex.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { samplePage } from "../testing/page-example.ts";
import { headline } from "./headline.ts";

const sample: Report = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../docs/smoke/report.json"), "utf8"),
);
const large = largeExample().report;

type Overall = Extract<AgentComparison["overall"], { kind: "tested" }>;

/** The sample with other numbers of the primary test. */
function tested(overall: Partial<Overall>): Report {
  return comparing(sample, (each) => ({ overall: { ...(each.overall as Overall), ...overall } }));
}

function comparing(report: Report, changed: (each: AgentComparison) => Partial<AgentComparison>): Report {
  return {
    ...report,
    agentComparisons: report.agentComparisons.map((each) => ({ ...each, ...changed(each) })),
  };
}

/** The sample's tests of single tasks with these p, in order. */
function withTaskPs(report: Report, ps: (number | "too-few")[]): Report {
  return comparing(report, ({ tasks }) => ({
    tasks: tasks.map((each, at): TaskComparison => {
      const p = ps[at] ?? 1;
      return p === "too-few" ? { ...each, kind: p } : { ...each, kind: "tested", p };
    }),
  }));
}

const withCells = (report: Report, changed: (cell: Cell) => Partial<Cell>): Report => ({
  ...report,
  cells: report.cells.map((cell) => (cell.primary ? { ...cell, ...changed(cell) } : cell)),
});

test("the sample of two attempts is described, tested over all tasks, and names no task", () => {
  const [observed, overall, single, ...more] = headline(sample);
  assert.equal(
    observed,
    "Practice data. Observed: script-strong has the better mean at 7 of 7 tasks (1 to 2 attempts each).",
  );
  assert.match(
    overall!,
    /^Over all tasks: the agents differ at some task \(p = 6\.4e-5, smallest possible 6\.4e-5\)\. /,
  );
  assert.match(
    overall!,
    /Difference of normalised means: script-strong minus script-weak over 3 of 7 tasks: \+0\.\d\d, no interval/,
  );
  assert.match(overall!, /; by benchmark \+0\.\d\d\. The others have no reference model of the kind n-gram/);
  assert.equal(single, "Single tasks: up to 2 attempts each cannot name a task; 6 could.");
  assert.deepEqual(more, []);
});

test("no line predicts new attempts", () => {
  for (const report of [sample, large, nastyExample().report(), tested({ p: 0.3 })])
    assert.doesNotMatch(headline(report).join(" "), /probably|would agree|new attempts/i);
});

test("a p above 0.05 shows no difference, and a test that no result could pass says so", () => {
  assert.match(headline(tested({ p: 0.051 }))[1]!, /no difference is shown \(p = 0\.051, smallest possible/);
  assert.match(headline(tested({ p: 0.05 }))[1]!, /the agents differ at some task \(p = 0\.050/);
  assert.match(
    headline(tested({ p: 0.3, pMin: 0.1 }))[1]!,
    /no difference could be shown, because the smallest possible p is 0\.10/,
  );
  const untestable = comparing(sample, () => ({ overall: { kind: "untestable" }, tasks: [] }));
  assert.match(headline(untestable)[1]!, /^Over all tasks: not tested/);
  assert.equal(headline(untestable)[2], "Single tasks: not tested.");
});

test("a test that favours the agent with fewer better means is said", () => {
  assert.match(
    headline(tested({ statistic: 0.1 }))[1]!,
    /, and attempts of script-weak are better more often/,
  );
  assert.doesNotMatch(headline(tested({ statistic: 0.9 }))[1]!, /more often/);
});

test("tasks are named where Holm rejects them, and only if the test over all tasks rejects", () => {
  const some = withTaskPs(sample, [0.01, 0.06, 0.04, "too-few", 0.051]);
  assert.equal(
    headline(some)[2],
    "Single tasks: script-strong differs from script-weak and is better more often at baby-lm and edge-llm-training (Holm over 7 tests: p at most 0.040).",
  );
  assert.equal(
    headline(withTaskPs(tested({ p: 0.06 }), [0.01]))[2],
    "Single tasks: none is named, because the test over all tasks shows no difference.",
  );
  assert.equal(
    headline(withTaskPs(sample, [0.06]))[2],
    "Single tasks: none is shown to differ alone (Holm over 7 tests).",
  );
});

test("of three agents tasks are named once every pair differs, and ranks say who is not shown better", () => {
  const ps = [0.01, 1, 1, 1, 1, 1, 1];
  assert.match(
    headline(withTaskPs(large, ps))[2]!,
    /^Single tasks: one-loop differs from script-weak and is better more often at baby-steps; supervisor differs from one-loop and is better more often at baby-steps; supervisor differs from script-weak and is better more often at baby-steps \(Holm over 21 tests: p at most 0\.010\)\.$/,
  );
  const pOf: Record<string, number> = { "script-weak supervisor": 0.001, "script-weak one-loop": 0.03 };
  const tied = comparing(withTaskPs(large, ps), ({ agents, overall }) => ({
    overall: { ...(overall as Overall), p: pOf[agents.join(" ")] ?? 0.04 },
  }));
  assert.match(
    headline(tied)[1]!,
    /1 of 3 pairs of agents differs at some task \(Holm over 3 pairs: p at most 0\.0030, smallest possible/,
  );
  assert.match(
    headline(tied)[1]!,
    /By mean rank: supervisor, not shown better than one-loop; one-loop, not shown better than script-weak; script-weak\./,
  );
  const none = "Single tasks: none is named, because not every pair of agents is shown to differ.";
  assert.equal(headline(tied)[2], none);
  const open = comparing(large, ({ overall }) => ({ overall: { ...(overall as Overall), p: 0.3 } }));
  assert.match(headline(open)[1]!, /none of 3 pairs of agents is shown to differ at some task \(/);
  // one pair is tested, and differs
  const lost = comparing(withTaskPs(large, ps), ({ agents, overall, tasks }) =>
    agents.includes("supervisor") ? { overall: { kind: "untestable" }, tasks: [] } : { overall, tasks },
  );
  assert.match(headline(lost)[1]!, /1 of 3 pairs of agents differs at some task/);
  assert.equal(headline(lost)[2], none);
});

test("agents without a mean rank are in no order", () => {
  const [, overall] = headline(letters({ plain: [2], strong: [1], lost: ["failed"] }));
  assert.match(overall!, /; without letters .*By mean rank: no task can be compared\./);
  assert.doesNotMatch(overall!, /better than|; strong/);
});

test("a difference that is not computed is not called none", () => {
  const without = comparing(sample, () => ({ difference: { kind: "none", why: "there is no scale" } }));
  assert.match(headline(without)[1]!, /\. Difference of means not given: there is no scale\.$/);
});

test("the number of attempts that could name a task grows with the pairs", () => {
  assert.equal(headline(large)[2], "Single tasks: up to 5 attempts each cannot name a task; 6 could.");
  const uneven = comparing(large, ({ tasks }) => ({
    tasks: tasks.map((each) => ({ ...each, attempts: [2, 5] as [number, number] })),
  }));
  assert.match(headline(uneven)[2]!, /: up to 5 attempts each cannot name a task; 6 could\./);
  const ties = comparing(large, ({ tasks }) => ({
    tasks: tasks.map((each) => ({ ...each, attempts: [9, 9] as [number, number] })),
  }));
  assert.match(headline(ties)[2]!, /these attempts cannot name a task; 6 each with different scores could/);
});

test("equal means are counted by task, and agents that share the best mean both have it", () => {
  const level = withCells(sample, ({ task }) => (task === "baby-lm" ? { mean: 3 } : {}));
  assert.match(
    headline(level)[0]!,
    /script-strong has the better mean at 6 of 7 tasks \(1 to 2 attempts each\); equal means at baby-lm\./,
  );
  // the last bit of a mean decides nothing
  const means: Record<string, number> = { "script-weak": 0.6666666666666666, "one-loop": 0.6666666666666667 };
  const shared = withCells(large, ({ agent }) => ({ direction: "higher", mean: means[agent] ?? 0.1 }));
  assert.match(
    headline(shared)[0]!,
    /a tie: one-loop and script-weak each have the best mean at 7 of 7 tasks \(/,
  );
});

/** Two agents at one task where lower is better, with the trivial baseline at 3 and a reference model at 1. */
function letters(scores: Record<string, (number | "disqualified" | "undecided" | "failed")[]>): Report {
  const rows = [
    { name: "unigram", value: 3, standardError: 0.01 },
    { name: "bigram", value: 1, standardError: 0.01 },
  ];
  const example = new Example({ label: "official" });
  example.gives("references", { task: "letters", scorer: "bits" }, referenceRows("bits", rows));
  for (const [agent, own] of Object.entries(scores))
    for (const [at, score] of own.entries()) {
      const axes = { task: "letters", agent, seed: at + 1 };
      if (score === "failed") {
        example.fails("attempt", axes, "failed", "the sandbox did not start");
        continue;
      }
      const judged =
        typeof score === "number"
          ? passed
          : verdict(score, { answer: score === "undecided" ? score : "fail" });
      example
        .gives("attempt", axes, { submission: `sha256:${agent}${at}` })
        .gives("validate", axes, judged)
        .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(Number(score) || 1.5)));
    }
  return example.report();
}

test("scores that count as the baseline are printed, never called equal", () => {
  const below = headline(letters({ plain: [5.53], strong: [3.73] }))[0]!;
  assert.equal(
    below,
    "Observed: no agent has a better mean at any of 1 task (1 attempt each); both below the trivial baseline at letters: plain 5.530, strong 3.730.",
  );
  const failed = headline(
    letters({ plain: [5.53, "disqualified"], strong: ["disqualified", "disqualified"] }),
  )[0]!;
  assert.match(failed, /both not above the trivial baseline at letters: plain 5\.530, strong failed\./);
  for (const line of [below, failed]) assert.doesNotMatch(line, /equal/);
});

test("a lead that undecided attempts decide is said", () => {
  const [observed] = headline(letters({ plain: [2, 2.1], strong: [1.9, "undecided"] }));
  assert.match(
    observed!,
    /strong has the better mean at 1 of 1 task \(2 attempts each\)\. With the undecided attempts of strong at the trivial baseline, plain has the better mean at 1 of 1 task\.$/,
  );
  assert.match(
    headline(letters({ plain: [2, 2.1], strong: [1.9, "undecided"] }))[1]!,
    /strong minus plain .*; strong is not ahead with its undecided attempts at the trivial baseline\./,
  );
  // the agent behind may have some, too: they would help the leader
  const both = headline(letters({ plain: [2, "undecided"], strong: [1.2, "undecided"] }))[0]!;
  assert.match(both, /With the undecided attempts of strong/);
  const firm = headline(letters({ plain: [2.9, 2.9], strong: [1, "undecided"] }));
  assert.doesNotMatch(firm.join(" "), /undecided/);
});

test("nothing measured is no loss: the causes are named", () => {
  const failing = (agents: string[]) => {
    const example = new Example({ label: "official" });
    for (const agent of agents) {
      const axes = { task: "letters", agent, seed: 1 };
      example.fails("attempt", axes, "failed", "the sandbox did not start");
      example.fails("score", { ...axes, scorer: "bits" }, "skipped", "attempt failed");
    }
    return headline(example.report());
  };
  const half = new Example({ label: "official" });
  half.gives("attempt", { task: "letters", agent: "plain", seed: 1 }, { submission: "sha256:a" });
  half.gives("validate", { task: "letters", agent: "plain", seed: 1 }, passed);
  half.gives(
    "score",
    { task: "letters", agent: "plain", seed: 1, scorer: "bits" },
    scored("bits", textItems(2)),
  );
  half.fails("attempt", { task: "letters", agent: "strong", seed: 1 }, "failed", "the sandbox did not start");
  assert.equal(
    headline(half.report())[0],
    "Observed: no task can be compared (1 attempt each); without letters (no attempt of strong was measured).",
  );
  const line = "Nothing was measured: 1 of 1 attempt failed (the sandbox did not start).";
  assert.deepEqual(failing(["plain"]), [line]);
  assert.deepEqual(failing(["plain", "strong"]), [line.replace("1 of 1 attempt", "2 of 2 attempts")]);
  assert.deepEqual(headline({ ...sample, attempts: [] }), ["Practice data. No attempts were planned."]);
});

test("one agent is compared with the trivial baseline, at tasks with a score", () => {
  const alone = {
    ...sample,
    agents: sample.agents.filter(({ name }) => name === "script-weak"),
    cells: sample.cells.filter(({ agent }) => agent === "script-weak"),
    attempts: sample.attempts.filter(({ agent }) => agent === "script-weak"),
  };
  assert.match(
    headline(alone)[0]!,
    /the mean of script-weak is better than the trivial baseline at 6 of 7 tasks \(1 to 2 attempts each\)\.$/,
  );
  const lost = {
    ...alone,
    cells: alone.cells.map((cell) => (cell.task === "baby-lm" ? { ...cell, measured: 0, mean: null } : cell)),
    attempts: alone.attempts.map((attempt) =>
      attempt.task === "baby-lm"
        ? { ...attempt, verdict: { kind: "missing" as const, cause: "attempt failed: out of memory" } }
        : attempt,
    ),
  };
  assert.match(
    headline(lost)[0]!,
    /at 5 of 7 tasks \(1 to 2 attempts each\); without baby-lm \(2 of 2 attempts failed \(out of memory\)\)\.$/,
  );
});

test("one agent with many missing attempts has no mean that is compared", () => {
  assert.match(
    headline(letters({ plain: [1.5, "failed", "failed"] }))[0]!,
    /at 0 of 1 task \(1 attempt each\); without letters \(2 of plain's 3 attempts are missing \(at most 20 % may be\)\)\.$/,
  );
});

test("every count of tasks is of all planned ones, with the reason where fewer are compared", () => {
  const lines = headline(nastyExample().report());
  assert.match(lines[0]!, /strong has the better mean at 1 of 2 tasks .*; without numbers \(plain has /);
  assert.match(lines[1]!, /; without numbers \(plain has failed attempts/);
});

test("the page, report.md, the terminal and report.tex print the same lines", () => {
  const plain = (text: string) => text.replaceAll(/\s+/g, " ");
  const unescaped = (markup: string) =>
    plain(
      markup
        .replaceAll(/<[^>]*>/g, "")
        .replaceAll("&#39;", "'")
        .replaceAll("&amp;", "&"),
    );
  for (const report of [sample, large, nastyExample().report()]) {
    const look = { width: 80, color: false };
    const drawn = unescaped(page(samplePage(report)));
    for (const line of headline(report)) {
      assert.ok(drawn.includes(line), line);
      assert.ok(plain(markdown(report).replaceAll(/\\(.)/g, "$1")).includes(line), line);
      assert.ok(plain(terminalTable(report, look)).includes(line), line);
      assert.ok(plain(terminalMainTable(report, look)).includes(line), line);
      assert.ok(latex(report).includes(`${latexText(line)}\n`), line);
    }
  }
});
