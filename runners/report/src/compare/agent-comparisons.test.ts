import assert from "node:assert/strict";
import { test } from "node:test";
import { detectableSuperiority } from "@mlrb/core/statistics/significance/permutation-power";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import { markdown } from "../formats/markdown.ts";
import {
  Example,
  passed,
  referenceRows,
  rejectedScore,
  researched,
  scored,
  verdict,
} from "../testing/example.ts";

type Fate = number | "rejected" | "disqualified" | "missing";
type Played = Partial<Record<string, Partial<Record<string, Fate[]>>>>;

const metricOf = (task: string) => (task === "numbers" ? "right" : "bits");
const others = ["letters", "more", "most"];

/** The report of attempts that went so, seeds from 1: at letters lower is better, at numbers higher. */
function played(
  all: Played,
  {
    seeded = {},
    baselines = true,
    anchored = false,
    submission = (agent: string, index: number) => `${agent}${index}`,
    actions = () => null,
  }: {
    seeded?: Record<string, boolean | null>;
    baselines?: boolean;
    /** Whether a reference model of 1 bit was measured. */
    anchored?: boolean;
    submission?: (agent: string, index: number) => string;
    actions?: (agent: string, index: number) => string | null;
  } = {},
) {
  const bits = Object.fromEntries(others.map((task) => [task, "bits"]));
  const example = new Example({
    seeded,
    primary: { ...bits, numbers: "right" },
    baselines: {
      ...Object.fromEntries(others.map((task) => [task, { bits: "unigram" }])),
      numbers: { right: "majority" },
    },
    referenceRows: Object.fromEntries(others.map((task) => [task, { bits: "bigram" }])),
  });
  for (const [task, agents] of Object.entries(all)) {
    const scorer = metricOf(task);
    const name = task === "numbers" ? "majority" : "unigram";
    const value = task === "numbers" ? 0.05 : 4;
    const reference = anchored ? [{ name: "bigram", value: 1, standardError: 0.01 }] : [];
    const rows = [{ name, value, standardError: 0.01 }, ...reference];
    if (baselines) example.gives("references", { task, scorer }, referenceRows(scorer, rows));
    for (const [agent, fates] of Object.entries(agents!)) {
      for (const [index, fate] of fates!.entries()) {
        const axes = { task, agent, seed: index + 1 };
        if (fate === "missing") {
          example.fails("attempt", axes, "failed", "no sandbox");
          example.fails("score", { ...axes, scorer }, "skipped", "");
          continue;
        }
        const best = task === "numbers" ? 1 : 0.1;
        const value = fate === "disqualified" ? best : fate;
        example
          .gives("attempt", axes, { submission: `sha256:${submission(agent, index)}` })
          .gives("validate", axes, fate === "disqualified" ? verdict("disqualified") : passed)
          .gives("iterations", axes, researched({}, [], actions(agent, index)))
          .gives(
            "score",
            { ...axes, scorer },
            value === "rejected"
              ? rejectedScore(scorer, "non-finite output")
              : scored(scorer, [{ id: "a", value, weight: 1 }]),
          );
      }
    }
  }
  return example.report();
}

function compared(...asked: Parameters<typeof played>): AgentComparison {
  const [found, ...others] = played(...asked).agentComparisons;
  assert.deepEqual(others, []);
  return found!;
}

const near = (found: number, expected: number) =>
  assert.ok(Math.abs(found - expected) < 1e-12, `${found} and not ${expected}`);

const behindEverywhere: Played = {
  letters: { plain: [3.1, 3, 3.2], strong: [2, 2.2, 2.1] },
  numbers: { plain: [0.1, 0.2, 0.3], strong: [0.6, 0.8, 0.7] },
};

test("an agent that is worse at every task, in either direction, gets the smallest p", () => {
  const { agents, overall } = compared(behindEverywhere);
  assert.deepEqual(agents, ["plain", "strong"]);
  assert.ok(overall.kind === "tested");
  assert.deepEqual([overall.statistic, overall.tasks, overall.method.kind], [0, 2, "exact"]);
  // of 20 labellings at each of two tasks, this one and its mirror
  near(overall.p, 2 / 400);
  near(overall.pMin, 2 / 400);
});

test("agents with equally many wins have P(first) 0.5 and p 1", () => {
  const { overall } = compared({
    letters: { plain: [3, 3.1], strong: [2, 2.1] },
    numbers: { plain: [0.8, 0.9], strong: [0.1, 0.2] },
  });
  assert.ok(overall.kind === "tested");
  assert.deepEqual([overall.statistic, overall.p], [0.5, 1]);
});

test("a single task has a Holm-adjusted p, or too few attempts for one", () => {
  const few = compared(behindEverywhere);
  assert.deepEqual(
    few.tasks.map(({ task, kind }) => [task, kind]),
    [
      ["letters", "too-few"],
      ["numbers", "too-few"],
    ],
  );
  near(few.tasks[0]!.pMin, 2 / 20);
  assert.match(
    markdown(played(behindEverywhere)),
    /\| 3 vs 3 \| 0\.00 \\\[0\.00, 0\.56\\\] \| too few seeds to test \|/,
  );

  const five = compared({
    letters: { plain: [3, 3.1, 3.2, 3.3, 3.4], strong: [2, 2.1, 2.2, 2.3, 2.4] },
    numbers: { plain: [0.1, 0.2, 0.3, 0.4, 0.5], strong: [0.15, 0.25, 0.35, 0.45, 0.55] },
  });
  const [letters, numbers] = five.tasks;
  assert.ok(letters!.kind === "tested" && numbers!.kind === "tested");
  near(letters!.p, (2 * 2) / 252);
  assert.equal(numbers!.superiority, 10 / 25);
  assert.ok(numbers!.p > 0.5);
});

test("failed attempts are scored at the trivial baseline, not dropped and not at their own score", () => {
  const { overall, leftOut } = compared({
    letters: { plain: [2.5, 2.6], strong: ["disqualified", "rejected"] },
  });
  assert.ok(overall.kind === "tested");
  assert.deepEqual([overall.statistic, leftOut], [1, []]);
});

test("a task with missing values or no trivial baseline is left out of the tests, with the reason", () => {
  const cases: [Played, RegExp][] = [
    [
      { letters: { plain: [3, 3.1], strong: [2, "rejected"] } },
      /^strong has failed attempts and the trivial baseline/,
    ],
    [{ letters: { plain: [3, 3.1], strong: [2, "missing"] } }, /^1 of strong's 2 attempts are missing/],
    [{ letters: { plain: ["missing"], strong: [2] } }, /^no attempt of plain was measured/],
    [{ letters: { plain: [3] }, numbers: { strong: [0.5] } }, /^not planned for strong/],
  ];
  for (const [all, why] of cases) {
    const report = played(all, { baselines: false });
    const [found] = report.agentComparisons;
    assert.deepEqual([found!.overall, found!.tasks], [{ kind: "untestable" }, []]);
    assert.match(found!.leftOut[0]!.why, why);
    assert.match(markdown(report), new RegExp(`without letters.*: ${why.source.slice(1)}`));
  }
});

test("a task with one missing attempt in five stays, without that attempt", () => {
  const { tasks } = compared({
    letters: { plain: [3, 3.1, 3.2, 3.3, "missing"], strong: [2, 2.1, 2.2, 2.3, 2.4] },
  });
  assert.deepEqual(tasks[0]!.attempts, [4, 5]);
});

test("attempts with one seed are pairs only of agents whose only randomness is the seed", () => {
  const both = compared(behindEverywhere, { seeded: { plain: true, strong: true } }).pairs;
  assert.ok(both.kind === "tested");
  assert.deepEqual([both.statistic, both.pairs, both.tasks], [0, 6, 2]);
  near(both.p, 2 ** -5);
  assert.match(
    markdown(played(behindEverywhere, { seeded: { plain: true, strong: true } })),
    /\| plain and strong \| 6 pairs \| 2 \| 0\.00 \| 0\.031 \| 0\.031 \| exact \|/,
  );
  const one = compared(behindEverywhere, { seeded: { plain: true, strong: null } }).pairs;
  assert.deepEqual(one, { kind: "not-paired", why: "strong is not declared `seeded`" });
  assert.match(
    markdown(played(behindEverywhere)),
    /not compared as pairs: plain and strong are not declared \\`seeded\\`/,
  );
  const apart = compared(
    { letters: { plain: [3, "missing"], strong: ["missing", 2] } },
    { seeded: { plain: true, strong: true } },
  ).pairs;
  assert.deepEqual(apart, { kind: "not-paired", why: "no seed was measured for both" });
});

test("each task has the same weight among pairs, and equal pairs count half", () => {
  const { pairs } = compared(
    {
      letters: { plain: [2, 2, 2, 2], strong: [3, 3, 3, 2] },
      numbers: { plain: [0.1], strong: [0.2] },
    },
    { seeded: { plain: true, strong: true } },
  );
  assert.ok(pairs.kind === "tested");
  near(pairs.statistic, (7 / 8 + 0) / 2);
  assert.equal(pairs.pairs, 5);
  // three quarters at letters against a whole at numbers: no signs lie nearer to level
  near(pairs.p, 1);
});

test("a task where a seeded agent repeats itself is left out of every test over attempts", () => {
  const seeded = { plain: true, strong: true };
  const always = { seeded, submission: (agent: string) => agent };
  const { overall, tasks, pairs, leftOut } = compared(behindEverywhere, always);
  assert.deepEqual([overall.kind, tasks, pairs.kind], ["untestable", [], "not-paired"]);
  assert.equal(
    leftOut[0]!.why,
    "3 attempts of plain without randomness are 1 observation; 3 attempts of strong without randomness are 1 observation",
  );
  const oneRepeats = (agent: string, index: number) =>
    agent === "plain" && index < 2 ? "same" : `${agent}${index}`;
  const one = compared(behindEverywhere, { seeded: { plain: true }, submission: oneRepeats });
  assert.equal(one.overall.kind, "untestable");
  assert.equal(one.leftOut[0]!.why, "3 attempts of plain without randomness are 2 observations");
  assert.equal(compared(behindEverywhere, { seeded }).overall.kind, "tested");
});

test("equal submissions of an agent with randomness stay separate observations, and are marked", () => {
  const submission = (agent: string, index: number) => (index < 2 ? agent : `${agent}${index}`);
  const { overall, leftOut } = compared(behindEverywhere, { submission });
  assert.deepEqual([overall.kind, leftOut], ["tested", []]);
  const [cell] = played(behindEverywhere, { submission }).cells;
  assert.deepEqual([cell!.identical, cell!.observations], [[2], 3]);
  assert.match(markdown(played(behindEverywhere, { submission })), /2 of 3 identical/);
});

test("equal submissions made by the same tool calls are repeats, by other tool calls they are not", () => {
  const submission = (agent: string, index: number) => (agent === "plain" ? agent : `${agent}${index}`);
  const acting = (actions: (index: number) => string) =>
    compared(behindEverywhere, {
      submission,
      actions: (agent, index) => (agent === "plain" ? actions(index) : null),
    });
  assert.equal(acting(() => "same").overall.kind, "untestable");
  assert.equal(acting((index) => `${index}`).overall.kind, "tested");
});

test("failed attempts with equal submissions are independent failures of an agent with randomness", () => {
  const all: Played = { letters: { plain: ["rejected", "rejected"], strong: [2, 2.1] } };
  const submission = (agent: string, index: number) => (agent === "plain" ? "empty" : `${index}`);
  assert.equal(compared(all, { submission }).overall.kind, "tested");
  assert.equal(compared(all, { submission, seeded: { plain: true } }).overall.kind, "untestable");
});

test("P(first) has an interval that is no point at 0 or 1", () => {
  const { overall, tasks } = compared(behindEverywhere);
  assert.ok(overall.kind === "tested");
  assert.equal(overall.interval[0], 0);
  assert.ok(overall.interval[1] > 0.3 && tasks[0]!.interval[1] > overall.interval[1]);
});

test("the difference of normalised means has an interval from 21 attempts of each agent on", () => {
  const anchored = { anchored: true };
  const seven = (value: number) => Array.from({ length: 7 }, (_, index) => value + index / 50);
  const tasks = (count: number): Played =>
    Object.fromEntries(
      ["letters", "more", "most"]
        .slice(0, count)
        .map((task) => [task, { plain: seven(2.5), strong: seven(2) }]),
    );
  const { difference } = compared(tasks(3), anchored);
  assert.ok(difference.kind === "difference" && difference.interval !== null);
  // 0.5 bits of the 3 between the baseline at 4 and the reference model at 1
  near(difference.value, -1 / 6);
  const [low, high] = difference.interval;
  assert.ok(low < -1 / 6 && -1 / 6 < high && high < 0);
  const few = compared(tasks(2), anchored).difference;
  assert.ok(few.kind === "difference" && few.withheld === "too-few");
  assert.match(markdown(played(tasks(2), anchored)), /no interval of the difference: it needs 21 attempts/);
  const none = compared(tasks(2)).difference;
  assert.ok(none.kind === "none");
});

test("a result is shown with the difference that its attempts could detect", () => {
  const { design } = compared(behindEverywhere);
  assert.deepEqual([design!.tasks, design!.attempts, design!.first.kind], [2, [3, 3], "undetectable"]);
  assert.deepEqual(
    design!.together,
    detectableSuperiority({ tasks: 2, attempts: { a: 3, b: 3 }, alpha: 0.05 }),
  );
  assert.match(
    markdown(played(behindEverywhere)),
    /3 vs 3 attempts at each of 2 tasks: P\(first\) = 0\.\d\d \(\d\.\d standard deviations between attempts\); at a single task, the first in Holm's order: none, because the smallest possible p is 0\.10/,
  );
  const uneven = compared({ letters: { plain: [3, "missing", 2.9], strong: [2] } }).design;
  assert.deepEqual(uneven!.attempts, [3, 1], "as planned, whatever came of it");
  const once = { ...behindEverywhere, merging: { plain: [3], strong: [2] } };
  const fewer = compared(once).design!;
  assert.deepEqual([fewer.tasks, fewer.attempts, fewer.together], [2, [3, 3], design!.together]);
  assert.match(
    markdown(played(once)),
    /3 vs 3 attempts at each of 2 tasks: .*first in Holm's order: none, because the smallest possible p is 0\.10/,
  );
});

test("three agents make three comparisons, one agent makes none, and equal designs are shown once", () => {
  const all = played({ letters: { a: [1, 2], b: [2, 3], c: [3, 4] } });
  assert.deepEqual(
    all.agentComparisons.map(({ agents }) => agents.join()),
    ["a,b", "a,c", "b,c"],
  );
  assert.equal(markdown(all).match(/detectable difference/g)!.length, 1);
  assert.deepEqual(played({ letters: { a: [1, 2] } }).agentComparisons, []);
});

test("of three agents, tasks are adjusted over all pairs, and Statistics has p over pairs next to p", () => {
  const letters = {
    one: [4, 3.9, 3.8, 3.7, 3.6],
    two: [3, 2.9, 2.8, 2.7, 2.6],
    three: [2, 1.9, 1.8, 1.7, 1.6],
  };
  const report = played({ letters });
  for (const { tasks, overall } of report.agentComparisons) {
    assert.ok(tasks[0]!.kind === "tested" && overall.kind === "tested");
    near(tasks[0]!.p, 3 * (2 / 252));
    near(overall.p, 2 / 252);
  }
  assert.match(markdown(report), /\| p over attempts \| p \(Holm over pairs\) \| smallest p \|/);
  assert.match(
    markdown(report),
    /\| one and two \| all attempts \| 1 \|[^|]*\| 0\.0079 \| 0\.024 \| 0\.0079 \|/,
  );
  const { one, two } = letters;
  assert.doesNotMatch(markdown(played({ letters: { one, two } })), /over pairs/);
});
