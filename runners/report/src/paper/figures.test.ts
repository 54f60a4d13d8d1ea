import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import { parseHTML } from "linkedom";
import { costData } from "../page/charts/cost-data.ts";
import { forestData } from "../page/charts/forest-data.ts";
import { rankedData } from "../page/charts/ranked-data.ts";
import { agentsExample } from "../testing/agents-example.ts";
import { largeExample } from "../testing/large-example.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { costDrawing, costFigure } from "./cost-figure.ts";
import { displayNames } from "./display-names.ts";
import { forestFigure, paperForest } from "./forest-figure.ts";
import { overTimeFigure } from "./over-time-figure.ts";

const sample = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../docs/smoke/report.json"), "utf8"),
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

test("the forest plot has every task, drawn from the numbers of the report", () => {
  const { tasks } = paperForest(sample);
  assert.deepEqual(
    tasks.map(({ task, scale }) => [task, scale]),
    [
      ["BabyLM", "normalised"],
      ["Edge LLM compression", "normalised"],
      ["Edge LLM training", "normalised"],
      ["LLM Efficiency", "own"],
      ["LLM Merging", "own"],
      ["Math reasoning", "normalised"],
      ["MiniPile", "normalised"],
    ],
  );
  const [cell] = sample.cells;
  const [first] = tasks[0]!.agents;
  assert.deepEqual([first!.at, first!.seeds.map(({ at }) => at)], [cell!.normalisedMean, cell!.normalised]);
});

test("an interval is that of the valid mean on the normalised scale, and none is drawn around a mean with failures", () => {
  const [cell] = sample.cells;
  const at = (share: number) => cell!.baseline! + share * (cell!.reference! - cell!.baseline!);
  const [low, high] = paperForest(sample).tasks[0]!.agents[0]!.interval!;
  assert.ok(low < high, "better to the right although lower is better");
  for (const [end, raw] of [
    [low, cell!.validInterval![1]],
    [high, cell!.validInterval![0]],
  ] as const)
    assert.ok(Math.abs(at(end) - raw) < 1e-12);
  const failed = { ...sample, cells: [{ ...cell!, validN: 1 }, ...sample.cells.slice(1)] };
  assert.equal(paperForest(failed).tasks[0]!.agents[0]!.interval, null);
});

test("the forest plot for a paper has the cells of the page's plot, under the names that readers know", () => {
  for (const report of [sample, nasty, large]) {
    const names = displayNames(report);
    const shown = forestData(report).tasks.filter(({ metric }) => metric !== null);
    assert.deepEqual(
      paperForest(report).tasks.slice(0, shown.length),
      shown.map(({ agents, ...each }) => ({
        ...{ ...each, task: names.task(each.task) },
        agents: agents.map((cell) => ({ ...cell, agent: names.agent(cell.agent) })),
      })),
    );
  }
});

test("the figure ends with the agents by their mean over tasks", async () => {
  const whole = await forestFigure(large);
  const agents = large.acrossTasks.agents.map((each) => ({ ...each, mean: null }));
  const without = await forestFigure({ ...large, acrossTasks: { ...large.acrossTasks, agents } });
  const height = (pdf: Buffer | undefined) =>
    Number(/\/MediaBox \[0 0 396 ([\d.]+)\]/.exec(pdf!.toString("latin1"))![1]);
  const more = ((rankedData(large).length * 34 + 48) * 396) / 716;
  assert.ok(Math.abs(height(whole) - height(without) - more) < 0.1);
});

test("cost is drawn against the normalised mean, and unknown costs are left out, never at 0", () => {
  const drawing = (dollars: (at: number) => number | null) => costDrawing(sample, times(sample, dollars));
  assert.equal(
    drawing(() => null),
    undefined,
  );
  assert.equal(
    drawing((at) => (at === 0 ? 40 : null)),
    undefined,
    "the mean of one of two attempts is unknown",
  );
  const two = (at: number) => (at < 2 ? 40 : null);
  const [dollars] = costData(sample, times(sample, two));
  const [cell] = sample.cells;
  const { task, agent, normalisedMean: score } = cell!;
  assert.deepEqual(dollars!.tasks, [{ task, agent, spent: 40, score }]);
  assert.match(drawing(two)!.markup, /Dollars of an attempt, mean/);
});

test("a figure is the same bytes each time, with its font embedded and its label in the file", async () => {
  const draw = [
    () => forestFigure(nasty),
    () => overTimeFigure(nasty),
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

test("names of tasks at one cost are below each other, on a background that no line crosses", () => {
  const { document } = parseHTML(costDrawing(large, largeExample().times!)!.markup);
  const names = [...document.querySelectorAll('g[paint-order="stroke"] text')].map((one) =>
    /\((\S+),(\S+)\)/.exec(one.getAttribute("transform")!)!.slice(1).map(Number),
  );
  const left = names.filter(([x]) => x! < 300).map(([, y]) => y!);
  const apart = left.toSorted((a, b) => a - b).map((y, at, all) => (at === 0 ? 99 : y - all[at - 1]!));
  assert.ok(left.length >= 5 && Math.min(...apart) > 9.9, apart.join(", "));
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

test("the score over time is drawn for each task at which a submission changed, two in a row", async () => {
  assert.equal(await overTimeFigure(sample), undefined);
  const { report } = agentsExample();
  const heightOf = (pdf: Buffer | undefined) =>
    Number(/\/MediaBox \[0 0 396 ([\d.]+)\]/.exec(pdf!.toString("latin1"))![1]);
  const both = heightOf(await overTimeFigure(report));
  const one = heightOf(await overTimeFigure({ ...report, tasks: report.tasks.slice(0, 1) }));
  assert.ok(Math.abs(both - one) < 0.1 && both > 150, `${both} ${one}`);
});

test("names of strangers are words of the figure, never elements of its drawing", async () => {
  const hostile = '</text></g></svg><image href="file:///etc/hostname"/><style>\u001b[31m';
  const named = { ...sample, agents: sample.agents.map((each) => ({ ...each, title: hostile })) };
  const [first, ...others] = sample.tasks;
  const pdf = await forestFigure({ ...named, tasks: [{ ...first!, title: hostile }, ...others] });
  const plain = await forestFigure(sample);
  const heightOf = (file: Buffer) => /\/MediaBox \[[^\]]*\]/.exec(file.toString("latin1"))![0];
  assert.equal(heightOf(pdf!), heightOf(plain!));
  assert.doesNotMatch(pdf!.toString("latin1"), /\/Subtype \/Image/);
});
