import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReferenceKind } from "@mlrb/formats/judged/references";
import type { Report } from "@mlrb/formats/report";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { csvRows } from "../testing/csv-rows.ts";
import { Example, passed, referenceRows, rejectedScore, scored } from "../testing/example.ts";

type Rows = Parameters<typeof referenceRows>[1];
type Fate = number | "rejected" | "missing";

const names = ["one", "two", "three"];
/** Baseline 3 and reference 1, lower being better, far apart against their errors. */
const wide: Rows = [
  { name: "baseline-row", value: 3, standardError: 0.1 },
  { name: "reference-row", value: 1, standardError: 0.1 },
];

/** A report of tasks at `bits`; the attempts of each agent by task. */
function report(
  agents: Record<string, Record<string, Fate[]>>,
  rows: Record<string, Rows> = {},
  params: Record<string, unknown> = {},
): Report {
  const each = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]));
  const example = new Example({
    tasks: each("A task"),
    primary: each("bits"),
    baselines: each({ bits: "baseline-row" }),
    referenceRows: each({ bits: "reference-row" }),
    ...params,
  });
  for (const [agent, tasks] of Object.entries(agents)) {
    for (const [task, fates] of Object.entries(tasks)) {
      for (const [index, fate] of fates.entries()) {
        const axes = { task, agent, seed: index + 1 };
        const score = { ...axes, scorer: "bits" };
        if (fate === "missing") {
          example.fails("attempt", axes, "failed", "no sandbox").fails("score", score, "skipped", "");
          continue;
        }
        example.gives("attempt", axes, { submission: `sha256:${agent}${task}${index}` });
        example.gives("validate", axes, passed);
        if (fate === "rejected") example.gives("score", score, rejectedScore("bits", "NaN"));
        else example.gives("score", score, scored("bits", [{ id: "a", value: fate, weight: 1 }]));
      }
    }
  }
  for (const task of names.filter((name) => Object.values(agents).some((tasks) => name in tasks)))
    example.gives("references", { task, scorer: "bits" }, referenceRows("bits", rows[task] ?? wide));
  return example.report();
}

test("0 is the trivial baseline and 1 the reference model in both directions; values below 0 count as 0", () => {
  const { cells } = report({ plain: { one: [3, 1, 2, 0, 4] } });
  assert.deepEqual(cells[0]!.normalised, [0, 1, 0.5, 1.5, 0]);
  assert.equal(cells[0]!.normalisedMean, 0.6);
  assert.deepEqual([cells[0]!.reference, cells[0]!.referenceName], [1, "reference-row"]);
  const higher = new Example({
    baselines: { numbers: { right: 0.25 } },
    referenceRows: { numbers: { right: "best" } },
  });
  const axes = { task: "numbers", agent: "plain", seed: 1 };
  higher
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "right" }, scored("right", [{ id: "a", value: 0.5, weight: 1 }]))
    .gives(
      "references",
      { task: "numbers", scorer: "right" },
      referenceRows("right", [{ name: "best", value: 0.75, standardError: 0.1 }]),
    );
  assert.deepEqual(higher.report().cells[0]!.normalised, [0.5], "0.5 is exactly five errors of 0.1");
});

test("a failed attempt is 0 on the scale, and a missing one has no value", () => {
  const { cells, acrossTasks } = report({ plain: { one: [1, 1, 1, 1, "missing"], two: [1, "rejected"] } });
  assert.deepEqual(cells[0]!.normalised, [1, 1, 1, 1, null]);
  assert.deepEqual(cells[1]!.normalised, [1, 0]);
  assert.equal(acrossTasks.agents[0]!.mean, 0.75);
});

test("the mean gives each task the same weight and has a range with each task left out", () => {
  const { acrossTasks } = report({ plain: { one: [1], two: [3, 3, 3], three: [2] } });
  assert.deepEqual(
    acrossTasks.tasks.map(({ task }) => task),
    ["one", "three", "two"],
  );
  const [agent] = acrossTasks.agents;
  assert.equal(agent!.mean, 0.5);
  assert.deepEqual(agent!.leaveOneOut, [
    { without: "one", mean: 0.25 },
    { without: "three", mean: 0.5 },
    { without: "two", mean: 0.75 },
  ]);
  assert.equal(agent!.interquartileMean, 0.5);
});

test("a task whose reference model allows no scale is left out for all agents, by name", () => {
  const cases: [Rows, RegExp][] = [
    [
      [wide[0]!, { name: "reference-row", value: 2.1, standardError: 0.1 }],
      /^the reference model reference-row \(2\.10\) is less than five standard errors from the trivial baseline \(3\.00\)$/,
    ],
    [
      [wide[0]!, { name: "reference-row", value: 3.5, standardError: 0.1 }],
      /is not better than the trivial baseline/,
    ],
    [[wide[0]!, { name: "reference-row", value: 1 }], /has no known standard error/],
    [[{ name: "baseline-row", value: 3 }, wide[1]!], /has no known standard error/],
    [
      [wide[0]!, { name: "reference-row", rejected: "NaN" }],
      /^the reference model reference-row was rejected: NaN$/,
    ],
    [[wide[0]!], /^no reference model: no measured row is named reference-row$/],
    [[wide[1]!], /^no trivial baseline: no measured row is named baseline-row$/],
  ];
  for (const [rows, why] of cases) {
    const found = report({ plain: { one: [2], two: [2] } }, { two: rows });
    assert.deepEqual(
      found.acrossTasks.tasks.map(({ task }) => task),
      ["one"],
    );
    const left = found.acrossTasks.leftOut.find(({ task }) => task === "two");
    assert.match(left!.why, why);
    assert.match(markdown(found), /two: A task\*\*: left out: /);
    const cell = found.cells.find(({ task }) => task === "two")!;
    assert.deepEqual([cell.normalised, cell.normalisedMean], [[null], null]);
  }
});

test("a task without a reference model is left out, with the reason", () => {
  const found = report({ plain: { one: [2] } }, {}, { referenceRows: { one: {}, two: null } });
  assert.deepEqual(found.acrossTasks.leftOut[0], { task: "one", why: "task.yaml names no reference model" });
  assert.match(terminalTable(found, { width: 120, color: false }), /│ +3\.0+ │ +– │/);
});

test("agents with means over different tasks are marked as not comparable", () => {
  const same = report({ plain: { one: [2], two: [2] }, strong: { one: [1], two: [1] } });
  assert.doesNotMatch(markdown(same), /not comparable/);
  const other = report({ plain: { one: [2], two: ["missing"] }, strong: { one: [1], two: [1] } });
  const why = "no attempt of plain was measured";
  assert.deepEqual(other.acrossTasks.agents[0]!.leftOut, [{ task: "two", why }]);
  assert.match(markdown(other), /\*\*not comparable\*\*: plain with strong/);
});

test("a task with over a fifth missing is left out of the agent's mean, as of the test", () => {
  const { acrossTasks } = report({ plain: { one: [2], two: [1, 1, "missing"] } });
  assert.deepEqual(acrossTasks.agents[0]!.tasks, ["one"]);
  assert.match(
    acrossTasks.agents[0]!.leftOut[0]!.why,
    /1 of plain's 3 attempts are missing \(at most 20 % may be\)/,
  );
});

test("tasks whose reference models are of another kind, or of none, are left out of means over tasks", () => {
  const kind = (kind: ReferenceKind): Rows => [wide[0]!, { ...wide[1]!, kind }];
  const agents = { plain: { one: [1], two: [2], three: [3] } };
  const mixed = report(agents, {
    one: kind("given-model"),
    two: kind("answers"),
    three: kind("given-model"),
  });
  assert.equal(mixed.acrossTasks.kind, "given-model");
  assert.deepEqual(mixed.acrossTasks.agents[0]!.tasks, ["one", "three"]);
  assert.equal(mixed.acrossTasks.agents[0]!.mean, 0.5);
  assert.deepEqual(mixed.acrossTasks.leftOut, [
    {
      task: "two",
      why: "its reference model reference-row is of the kind answers; most tasks have one of the kind given-model",
    },
  ]);
  const even = report(agents, { one: kind("given-model"), two: kind("answers"), three: kind("n-gram") });
  assert.deepEqual([even.acrossTasks.kind, even.acrossTasks.tasks], [null, []]);
  assert.match(even.acrossTasks.leftOut[0]!.why, /no kind is that of most tasks$/);
});

test("ranks compare agents over all tasks, whatever the kinds of their reference models", () => {
  const kind = (kind: ReferenceKind): Rows => [wide[0]!, { ...wide[1]!, kind }];
  const { acrossTasks } = report(
    {
      a: { one: [1], two: [1], three: [1] },
      b: { one: [2], two: [1], three: [2] },
      c: { one: [2.5], two: [2], three: ["missing"] },
    },
    { one: kind("given-model"), two: kind("answers") },
  );
  assert.deepEqual(acrossTasks.ranked, ["one", "two"]);
  assert.deepEqual(
    acrossTasks.agents.map(({ meanRank }) => meanRank),
    [(1 + 1.5) / 2, (2 + 1.5) / 2, 3],
  );
  assert.equal(report({ a: { one: [1] } }).acrossTasks.agents[0]!.meanRank, null);
});

test("scores.csv has each attempt's normalised score", () => {
  const found = report({ plain: { one: [2], two: [1] } });
  const [score] = csvRows(found, "scores").filter(({ task }) => task === "one");
  assert.deepEqual([score!.baseline, score!.reference, score!.normalised], ["3", "1", "0.5"]);
});
