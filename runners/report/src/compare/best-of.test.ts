import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { csvFiles } from "../formats/csv-files.ts";
import { paperFiles } from "../formats/latex.ts";
import { markdown } from "../formats/markdown.ts";
import { profilesPart } from "../page/charts/profiles.ts";
import { profilesFigure } from "../paper/profiles-figure.ts";
import { bestOfSections } from "../sections/best-of-section.ts";
import { times } from "../sections/times.ts";
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
import { falseReportsMax } from "../testing/simulated-report.ts";
import { bestOf } from "./best-of.ts";

/** `bits` of the test, lower is better; `dev`: right ones of 200 public pairs, rejected, or none. */
type Try = {
  bits: number | "disqualified" | "missing";
  dev?: number | "rejected";
};

const pairs = {
  ...{ name: "pairs", title: "pairs", unit: "share of pairs", direction: "higher" as const, digits: 3 },
  range: [0, 1] as [number, number],
};

function example(tries: Try[], { choice = { metric: pairs } as object, bestOf = [2] } = {}) {
  const made = new Example({ bestOf, choices: { letters: choice } });
  for (const [at, { bits, dev }] of tries.entries()) {
    const axes = { task: "letters", agent: "plain", seed: at + 1 };
    if (bits === "missing") {
      made.fails("attempt", axes, "failed", "the host died");
      continue;
    }
    const isValid = typeof bits === "number";
    made.gives("attempt", axes, { submission: `sha256:${at}` });
    made.gives("validate", axes, isValid ? passed : verdict("disqualified"));
    made.gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(isValid ? bits : 1)));
    if (dev === undefined) continue;
    const score = dev === "rejected" ? rejectedScore("pairs", "NaN") : scored("pairs", pairItems(dev));
    made.gives("dev-score", axes, { ...score, took: { formatVersion: 1, seconds: 2.5 } });
  }
  const rows = [
    { name: "unigram", value: 3, standardError: 0.01 },
    { name: "bigram", value: 2, standardError: 0.01 },
  ];
  made.gives("references", { task: "letters", scorer: "bits" }, referenceRows("bits", rows));
  return made;
}

const cellAt = (report: Report, k: number) => report.bestOf!.cells.find((cell) => cell.k === k)!;

const four: Try[] = [
  { bits: 1.5, dev: 100 },
  { bits: 2.5, dev: 150 },
  { bits: 2.2, dev: 90 },
  { bits: 1.9, dev: 120 },
];

test("public rows choose, and the best test score is only an upper bound", () => {
  const report = example(four).report();
  mustFollow(reportFormat, report, "the report");
  const { groups, mean, oracle, better, betterInterval } = cellAt(report, 2);
  assert.deepEqual(
    groups.map(({ seeds, dev, by, chosen }) => ({ seeds, dev, by, chosen })),
    [
      { seeds: [1, 2], dev: [0.5, 0.75], by: "dev", chosen: 2 },
      { seeds: [3, 4], dev: [0.45, 0.6], by: "dev", chosen: 4 },
    ],
    "the worse attempt of the first group, because public rows say so",
  );
  assert.deepEqual([mean?.toFixed(1), oracle?.toFixed(1)], ["2.2", "1.7"]);
  assert.equal(better, 0.25, "2.5 is beaten by both others, 1.9 beats one of two");
  assert.ok(betterInterval![0] < 0.25 && betterInterval![1] > 0.8);
  const [row] = report.bestOf!.agents.filter(({ k }) => k === 2);
  assert.deepEqual([row!.choice!.share, row!.choice!.groups, row!.choice!.p], [0.5, 2, 1]);
  assert.doesNotMatch(markdown(report), /is shown to choose/);
});

test("a success beats the reference by two of its errors, and failures count while missing attempts do not", () => {
  const tries: Try[] = [{ bits: 1.97 }, { bits: 1.985 }, { bits: "disqualified" }, { bits: "missing" }];
  const report = example(tries).report();
  const { n, successes, passAtK, passInterval } = cellAt(report, 2);
  assert.deepEqual([n, successes], [3, 1]);
  assert.ok(Math.abs(passAtK! - 2 / 3) < 1e-12);
  assert.equal(passInterval, null, "a quarter of the attempts is missing");
  const declared = example(tries, { choice: { metric: pairs, success: 1.99 } }).report();
  assert.equal(cellAt(declared, 2).successes, 2, "a score of task.yaml is enough");
  const unknown = example(tries, { choice: { metric: pairs, success: "trigram" } }).report();
  assert.deepEqual([cellAt(unknown, 1).successes, cellAt(unknown, 1).passAtK], [null, null]);
  assert.match(markdown(unknown), /no success is known: trigram has no value/);
});

test("an attempt cannot gain by having no score on public rows", () => {
  const [group] = cellAt(
    example([
      { bits: 1, dev: "rejected" },
      { bits: 2.5, dev: 1 },
    ]).report(),
    2,
  ).groups;
  assert.deepEqual([group!.by, group!.chosen, group!.dev], ["dev", 2, [null, 0.005]]);
});

test("a chosen attempt that broke a rule counts as the trivial baseline, and a missing one leaves no group", () => {
  const report = example([
    { bits: 1.5, dev: 100 },
    { bits: "disqualified", dev: 150 },
    { bits: 1.5, dev: 100 },
    { bits: "missing" },
  ]).report();
  const { groups, mean, oracle } = cellAt(report, 2);
  assert.deepEqual(
    groups.map(({ by, chosen, value }) => [by, chosen, value]),
    [
      ["dev", 2, 3],
      ["missing", null, null],
    ],
  );
  assert.deepEqual([mean, oracle?.toFixed(1)], [3, "1.5"]);
});

test("without public rows a valid attempt is drawn, the report says so, and nothing is tested", () => {
  const report = example([{ bits: "disqualified" }, { bits: 1.5 }, { bits: 2 }], {
    choice: { metric: null },
  }).report();
  const { groups, leftOut } = cellAt(report, 2);
  assert.deepEqual([groups[0]!.by, groups[0]!.chosen, leftOut], ["random", 2, 1]);
  assert.ok(report.bestOf!.agents.every(({ choice }) => choice === null));
  assert.match(markdown(report), /no public rows, so the choice is random/);
  assert.match(markdown(report), /1 at random, 1 attempt left out/);
});

test("the CSV files, the LaTeX table, the page and the figure have the best of k", async () => {
  const made = example(four);
  const report = made.report();
  const files = csvFiles(report);
  const [head, single, two] = files["best-of.csv"]!.trim().split("\r\n");
  assert.match(head!, /,chosen_seeds,.*,oracle_upper_bound$/);
  assert.match(single!, /,letters,plain,1,bits,true,bits\/byte,lower,/);
  assert.match(two!, /,2 4,/);
  assert.match(files["profiles.csv"]!, /,plain,1,letters,0\.(49|5)\d*,0\.75\r\n/);
  assert.match(paperFiles(report)["best-of.tex"]!, /Upper bound/);
  assert.match(profilesPart(report).markup, /share of the best of 2/);
  assert.match((await profilesFigure(report))!.toString("latin1"), /^%PDF/);
  const readLedger = () => "none";
  const taken = times(made.collected, {
    label: "smoke",
    readLedger,
    read: made.read,
    direction: () => "lower",
  });
  assert.deepEqual(
    taken.attempts.map(({ devSeconds }) => devSeconds),
    [2.5, 2.5, 2.5, 2.5],
    "scoring on public rows is charged to each attempt",
  );
});

test("a report that asks for nothing has no best of k", () => {
  const report = new Example().report();
  assert.equal(report.bestOf, undefined);
  assert.doesNotMatch(markdown(report), /Best of k/);
});

/** Seven tasks, three agents, and dev scores that know nothing of test scores (`signal` 0) or something. */
function simulated(
  random: ReturnType<typeof seededRandom>,
  { signal, attempts }: { signal: number; attempts: number },
) {
  const report = example(four).report();
  const [cell] = report.cells;
  const names = ["a", "b", "c"];
  const tasks = Array.from({ length: 7 }, (_, at) => `task-${at}`);
  const dev = new Map<Attempt, number>();
  const [like] = report.attempts;
  const cells = tasks.flatMap((task) =>
    names.map((agent) => {
      const own = Array.from({ length: attempts }, (_, seed): Attempt => {
        const value = random.fraction() < 0.2 ? -5 : random.normal();
        const attempt: Attempt = {
          ...{ ...like!, task, agent, seed },
          scores: { bits: { ...like!.scores.bits!, value } as Attempt["scores"][string] },
        };
        dev.set(attempt, signal * value + random.normal());
        return attempt;
      });
      const counted = own.map((one) => (one.scores.bits as { value: number }).value);
      const counts = { measured: attempts, planned: attempts, observations: attempts };
      const seeds = own.map(({ seed }) => seed);
      const direction = "higher" as const;
      return { ...cell!, task, agent, direction, counted, seeds, normalised: counted, ...counts };
    }),
  );
  const agents = names.map((name) => ({ name, title: name }));
  const all: Report = {
    ...{ ...report, agents, cells, attempts: [...dev.keys()] },
    tasks: tasks.map((name) => ({ name, title: name, primary: "bits" })),
  };
  const found = bestOf(all, {
    ...{ bestOf: [1, 2, 5], success: () => 0, isWhole: () => true },
    devMetric: () => pairs,
    devValue: (attempt) => dev.get(attempt),
  })!;
  return bestOfSections({ ...all, bestOf: found })[0]!.items.filter(({ text }) =>
    text.includes("is shown to"),
  );
}

for (const attempts of [5, 10])
  test(`of ${attempts} attempts, a choice that knows nothing is called better in at most 5 % of reports`, () => {
    const random = seededRandom(20_240_601 + attempts);
    const reports = 150;
    const wrong = Array.from({ length: reports }, () => simulated(random, { signal: 0, attempts }));
    const claimed = wrong.filter((claims) => claims.length > 0).length;
    assert.ok(claimed <= falseReportsMax(reports) / 2, `${claimed} of ${reports}`);
    assert.ok(simulated(random, { signal: 2, attempts }).length > 0, "a choice that knows much is shown to");
  });
