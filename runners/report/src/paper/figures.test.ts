import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import { differenceRows } from "../page/charts/difference-rows.ts";
import { forestData } from "../page/charts/forest-data.ts";
import { largeExample } from "../testing/large-example.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { costFigure } from "./cost-figure.ts";
import { costPoints } from "./costs.ts";
import { forestFigure } from "./forest-figure.ts";
import { forestRows } from "./forest-rows.ts";
import { roundTicks } from "./pdf-page.ts";

const sample = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../docs/sample/report.json"), "utf8"),
) as Report;
const nasty = nastyExample().report();
const large = largeExample().report;

const times = ({ attempts, label }: Report, dollars: (at: number) => number | null): Times => ({
  ...{ formatVersion: 1, label },
  attempts: attempts.map(({ task, agent, seed }, at) => ({
    ...{ task, agent, seed, wallSeconds: null, workingSeconds: null, budgetSeconds: null, ended: null },
    ...{ tokens: null, dollars: dollars(at), gpuHours: null, gpuBusyHours: null },
    ...{ firstValidSeconds: null, improvementPerHour: null },
    ...{ gpuMemoryPeakMiB: null, unusedShare: null, sinceImprovementSeconds: null, bestSoFar: [] },
  })),
});

test("the forest plot has every task, drawn from the numbers of the report, and the mean over tasks last", () => {
  const rows = forestRows(sample);
  assert.deepEqual(
    rows.map(({ title, without }) => [title, without]),
    [
      ["BabyLM", ""],
      ["Edge LLM compression", ""],
      ["Edge LLM training", ""],
      ["LLM Efficiency", "no normalised scale"],
      ["LLM Merging", "no normalised scale"],
      ["Math reasoning", ""],
      ["MiniPile", ""],
      ["Mean of 3 tasks", ""],
    ],
  );
  const [cell] = sample.cells;
  const [first] = rows[0]!.marks;
  assert.deepEqual([first!.mean, first!.seeds], [cell!.normalisedMean, cell!.normalised]);
  assert.deepEqual(
    rows.at(-1)!.marks.map(({ mean }) => mean),
    sample.acrossTasks.agents.map(({ mean }) => mean),
  );
});

test("an interval is that of the valid mean on the normalised scale, and none is drawn around a mean with failures", () => {
  const [cell] = sample.cells;
  const at = (share: number) => cell!.floor! + share * (cell!.anchor! - cell!.floor!);
  const [low, high] = forestRows(sample)[0]!.marks[0]!.interval!;
  assert.ok(low < high, "better to the right although lower is better");
  for (const [end, raw] of [
    [low, cell!.validInterval![1]],
    [high, cell!.validInterval![0]],
  ] as const)
    assert.ok(Math.abs(at(end) - raw) < 1e-12);
  const failed = { ...sample, cells: [{ ...cell!, validN: 1 }, ...sample.cells.slice(1)] };
  assert.equal(forestRows(failed)[0]!.marks[0]!.interval, null);
});

test("the forest plot for a paper has the marks of the page's plot: hollow ones without a scale, and failed attempts", () => {
  for (const report of [sample, nasty, large]) {
    const shown = forestData(report).tasks.filter(({ metric }) => metric !== null);
    const rows = forestRows(report).slice(0, shown.length);
    for (const [at, { scale, agents }] of shown.entries()) {
      assert.deepEqual([rows[at]!.scale, rows[at]!.without !== ""], [scale, scale === "own"]);
      const marks = agents.flatMap(({ at: mean, interval, seeds }, agent) => {
        const places = seeds.flatMap((seed) => (seed.at === null ? [] : [seed]));
        const [failed, counted] = [true, false].map((isFailed) =>
          places.filter(({ kind }) => (kind === "failed") === isFailed).map((seed) => seed.at),
        );
        return mean === null ? [] : [{ agent, mean, interval, seeds: counted, failed }];
      });
      assert.deepEqual(rows[at]!.marks, marks);
      assert.equal(rows[at]!.lacking.length + marks.length, agents.length);
    }
  }
  assert.ok(forestRows(large).some(({ scale, marks }) => scale === "own" && marks.length > 0));
  assert.ok(forestRows(large).some(({ marks }) => marks.some(({ failed }) => failed.length > 0)));
});

test("the figure ends with the differences of means over tasks, as words and on an axis of their own", async () => {
  const whole = await forestFigure(large);
  const without = await forestFigure({ ...large, agentComparisons: [] });
  const height = (pdf: Buffer | undefined) =>
    Number(/\/MediaBox \[0 0 396 ([\d.]+)\]/.exec(pdf!.toString("latin1"))![1]);
  assert.equal(differenceRows(large).length, 2);
  assert.equal(height(whole) - height(without), 2 * 20 + 2 * 16);
});

test("cost is drawn against the normalised mean, and unknown costs are left out, never at 0", () => {
  assert.equal(
    costPoints(
      sample,
      times(sample, () => null),
    ),
    undefined,
  );
  assert.equal(
    costPoints(
      sample,
      times(sample, (at) => (at === 0 ? 40 : null)),
    ),
    undefined,
    "the mean of one of two attempts is unknown",
  );
  const { head, points } = costPoints(
    sample,
    times(sample, (at) => (at < 2 ? 40 : null)),
  )!;
  const [cell] = sample.cells;
  assert.equal(head, "Dollars");
  assert.deepEqual(points, [{ task: cell!.task, agent: cell!.agent, cost: 40, score: cell!.normalisedMean }]);
});

test("a figure is the same bytes each time, with its font embedded and its label in the file", async () => {
  const draw = [
    () => forestFigure(nasty),
    () =>
      costFigure(
        sample,
        times(sample, (at) => 40 + at),
      ),
  ];
  for (const figure of draw) {
    const [first, second] = [(await figure())!, (await figure())!];
    assert.ok(first.equals(second));
    const text = first.toString("latin1");
    assert.match(text, /^%PDF-1\.3/);
    assert.match(text, /\/FontFile2/);
    assert.match(text, /^\(.* \\\(smoke, no network\\\)\)$/m);
    assert.match(text, /\(D:19700101000000Z\)/);
    assert.doesNotMatch(text, /FlateDecode|NaN|undefined|Infinity/);
  }
});

test("names of tasks at one cost are below each other, and no line crosses small words", async () => {
  const words = (pdf: Buffer | undefined, size: number) =>
    [
      ...pdf!
        .toString("latin1")
        .matchAll(
          /(?:re\n\/DeviceRGB cs\n(1 1 1) scn\n(?:\/Gs\d+ gs\n)?f\n[\s\S]{0,120}?)?(\S+) (\S+) Tm\n\/F1 (\S+) Tf/g,
        ),
    ]
      .filter(([, , , , own]) => Number(own) === size)
      .map(([, white, x, y]) => ({ isClear: white !== undefined, x: Number(x), y: Number(y) }));
  const names = words(await costFigure(large, largeExample().times!), 5.5);
  const left = names.filter(({ x }) => x < 150).map(({ y }) => y);
  const apart = left.toSorted((a, b) => a - b).map((y, at, all) => (at === 0 ? 9 : y - all[at - 1]!));
  assert.ok(left.length >= 5 && Math.min(...apart) > 5.4, apart.join(", "));
  const [note, ...others] = words(await forestFigure(sample), 6).slice(-1);
  assert.deepEqual([note!.isClear, others], [true, []]);
  assert.ok(names.every(({ isClear }) => isClear));
});

test("a report without a normalised scale, or without costs, has no figure", async () => {
  const bare = {
    ...sample,
    cells: sample.cells.map((cell) => ({ ...cell, normalisedMean: null })),
    acrossTasks: { ...sample.acrossTasks, agents: [] },
  };
  assert.equal(await forestFigure(bare), undefined);
  assert.equal(
    await costFigure(
      sample,
      times(sample, () => null),
    ),
    undefined,
  );
});

test("ticks are round numbers inside the axis", () => {
  const texts = (low: number, high: number) => roundTicks(low, high).map(({ text }) => text);
  assert.deepEqual(texts(-0.1, 1.25), ["0.0", "0.5", "1.0"]);
  assert.deepEqual(texts(-0.6, 2), ["−0.5", "0.0", "0.5", "1.0", "1.5", "2.0"]);
  assert.deepEqual(texts(0, 43), ["0", "10", "20", "30", "40"]);
});
