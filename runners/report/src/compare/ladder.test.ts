import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import { csvFiles } from "../formats/csv-files.ts";
import { markdown } from "../formats/markdown.ts";
import { doseFigure } from "../paper/dose-figure.ts";
import { Example, exampleParams, passed, referenceRows, scored, textItems } from "../testing/example.ts";
import { ladder } from "./ladder.ts";

const level = (name: string, dose: number, more = {}) => ({
  ...{
    task: "letters",
    name,
    of: "time",
    dose,
    unit: "share of the time",
    whole: 1,
    says: "Less.",
    share: null,
    help: null,
  },
  ...more,
});

const names = ["letters", "letters@half", "letters@quick"];
const byName = <Value>(value: Value) => Object.fromEntries(names.map((name) => [name, value]));

/** `bits`: of each attempt by task. Baseline 3 and reference 1. */
function example(bits: Record<string, number[]>, { params = {} } = {}) {
  const made = new Example({
    tasks: byName("Letters"),
    primary: byName("bits"),
    baselines: byName(exampleParams.baselines.letters),
    referenceRows: byName(exampleParams.referenceRows.letters),
    rules: byName([]),
    levels: { letters: null, "letters@half": level("half", 0.5), "letters@quick": level("quick", 0.1) },
    equalMargin: 0.1,
    ...params,
  });
  for (const [task, values] of Object.entries(bits)) {
    for (const [at, value] of values.entries()) {
      const axes = { task, agent: "plain", seed: at + 1 };
      made.gives("attempt", axes, { submission: `sha256:${task}${at}` });
      made.gives("validate", axes, passed);
      made.gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(value)));
    }
    const rows = referenceRows("bits", [
      { name: "unigram", value: 3, standardError: 0.01 },
      { name: "bigram", value: 1, standardError: 0.01 },
    ]);
    made.gives("references", { task, scorer: "bits" }, rows);
  }
  return made.report();
}

const steep = {
  letters: [1.4, 1.5, 1.6, 1.45, 1.55],
  "letters@half": [2, 2.1, 1.9, 2.05, 1.95],
  "letters@quick": [3.1, 2.9, 3.05, 2.95, 3],
};

test("a curve has the mean of each level on its own scale, and words say where nothing is shown any more", () => {
  const made = example(steep);
  mustFollow(reportFormat, made, "the report");
  const [curve] = made.ladder!.curves;
  assert.deepEqual(
    curve!.points.map(({ level, dose, n, mean }) => [level, dose, n, mean?.toFixed(2)]),
    [
      ["whole", 1, 5, "0.75"],
      ["half", 0.5, 5, "0.50"],
      ["quick", 0.1, 5, "0.01"],
    ],
    "worse than the baseline counts as it in the mean",
  );
  const [low, high] = curve!.points[2]!.interval!;
  assert.ok(low < 0 && high > 0 && high < 0.1, "the interval has the scores that are worse");
  assert.deepEqual([curve!.beats, curve!.equal], [["whole", "half"], ["quick"]]);
  const text = markdown(made);
  assert.match(
    text,
    /no longer shown to beat the baseline at quick; equal to the baseline within 0\.1 at quick/,
  );
  assert.match(text, /Nothing here says how difficult the official tasks are/);
  assert.match(text, /\| half \| 0\.5 \| 0\.50 /);
});

test("one trend test for each agent", () => {
  const [trend, ...others] = example(steep).ladder!.trends;
  assert.deepEqual(others, []);
  assert.ok(trend!.p! < 0.001);
  assert.deepEqual([trend!.curves, trend!.rises], [1, true]);
});

test("a level is no further task: numbers over tasks are over whole ones", () => {
  const made = example(steep);
  const over = [...made.acrossTasks.tasks, ...made.acrossTasks.leftOut].map(({ task }) => task);
  assert.deepEqual(over, ["letters"]);
});

test("what is harder than a level that is not shown is not looked at", () => {
  const made = example({
    ...steep,
    "letters@half": [3.1, 2.9, 3.05, 2.95, 3],
    "letters@quick": [1.4, 1.5, 1.6, 1.5, 1.5],
  });
  assert.deepEqual(made.ladder!.curves[0]!.beats, ["whole"]);
  assert.match(markdown(made), /no longer shown to beat the baseline at half/);
});

test("without a reference at a level means are in the metric's unit, and compared with the baseline in it", () => {
  const made = example(steep, {
    params: { referenceRows: { ...byName({ bits: "bigram" }), "letters@quick": {} } },
  });
  const [curve] = made.ladder!.curves;
  assert.equal(curve!.scaled, false);
  assert.deepEqual([curve!.beats, curve!.equal], [["whole", "half"], []]);
  assert.deepEqual([curve!.points[1]!.mean?.toFixed(2), curve!.points[1]!.baseline], ["2.00", 3]);
  assert.equal(made.ladder!.trends[0]!.rises, true, "lower is better");
  assert.match(
    markdown(made),
    /shown to beat the baseline at the whole task and half; no longer shown to beat the baseline at quick/,
  );
});

test("a level without a baseline is not compared, nor what is harder", () => {
  const without = (task: string) => ({ baselines: { ...byName({ bits: "unigram" }), [task]: {} } });
  const half = example(steep, { params: without("letters@half") });
  assert.deepEqual(half.ladder!.curves[0]!.beats, ["whole"]);
  assert.match(
    markdown(half),
    /shown to beat the baseline at the whole task; half has no trivial baseline\n/,
  );
  const whole = example(steep, { params: without("letters") });
  assert.deepEqual(whole.ladder!.curves[0]!.beats, []);
  assert.match(markdown(whole), /: the whole task has no trivial baseline\n/);
});

test("without the whole task words name the first level that is shown", () => {
  const { letters: _, ...levels } = steep;
  const worse = { ...levels, "letters@half": [3.1, 2.9, 3.05, 2.95, 3] };
  assert.match(markdown(example(worse)), /not shown to beat the baseline at half/);
  assert.match(markdown(example(levels)), /; no longer shown to beat the baseline at quick/);
});

test("levels that are easier than the whole task are not claimed to beat the baseline", () => {
  const help = (name: string, dose: number) => level(name, dose, { of: "help", whole: 0 });
  const levels = { letters: null, "letters@half": help("half", 1), "letters@quick": help("quick", 2) };
  const easy = { ...steep, "letters@quick": [1.4, 1.5, 1.6, 1.5, 1.5] };
  const whole = example(easy, { params: { levels } });
  assert.deepEqual(whole.ladder!.curves[0]!.beats, ["whole"]);
  const { letters: _, ...others } = easy;
  const without = example(others, { params: { levels } });
  assert.deepEqual(without.ladder!.curves[0]!.beats, []);
  assert.match(markdown(without), /the whole task is not shown, and all levels are easier/);
});

test("a dose is the one of the run's kind of data", () => {
  const memory = (name: string, dose: number) =>
    level(name, dose, { of: "memory", unit: "GB", doses: { smoke: { dose: dose / 10, whole: 0.1 } } });
  const levels = {
    letters: null,
    "letters@half": memory("half", 0.5),
    "letters@quick": memory("quick", 0.2),
  };
  const [curve] = example(steep, { params: { levels } }).ladder!.curves;
  assert.deepEqual(
    curve!.points.map(({ dose }) => dose),
    [0.1, 0.05, 0.02],
  );
});

test("doses.csv has a row for each level, and the figure is drawn", async () => {
  const made = example(steep);
  const lines = csvFiles(made)["doses.csv"]!.trim().split("\r\n");
  assert.equal(lines.length, 4);
  assert.match(lines[2]!, /letters,time,half,0\.5,share of the time,plain,bits,true,0\.(49|5)/);
  assert.match((await doseFigure(made))!.toString("latin1"), /^%PDF/);
});

test("a report without levels has no ladder", () => {
  const made = new Example().report();
  assert.equal(made.ladder, undefined);
  assert.doesNotMatch(markdown(made), /Levels of difficulty/);
});

test("agents that are no better than the baseline are shown to beat it in at most 5 % of curves", () => {
  const random = seededRandom(11);
  const levels = [level("half", 0.5), level("quick", 0.1)];
  const cellOf = (task: string, center: number) => {
    const values = Array.from({ length: 5 }, () => center + 0.2 * random.normal());
    const counted = values.map((value) => Math.max(0, value));
    const scale = {
      baseline: 0,
      reference: 1,
      normalisedWithheld: null,
      normalised: counted,
      direction: "higher",
    };
    return { ...scale, task, agent: "plain", metric: "right", primary: true, values, counted };
  };
  const shown = (center: number) => {
    const cells = names.map((task) => cellOf(task, center));
    const report = { agents: [{ name: "plain" }], cells, attempts: [], tasks: [] } as unknown as Report;
    return ladder(report, { levels, margin: 0.05 })!.curves[0]!;
  };
  const curves = Array.from({ length: 120 }, () => shown(0));
  const wrong = curves.filter(({ beats }) => beats.length > 0).length;
  assert.ok(wrong <= 0.05 * 120, `${wrong} of 120 beat the baseline`);
  // and not equal to it where they are as far from it as the margin
  const equal = Array.from({ length: 120 }, () => shown(-0.05)).filter((one) => one.equal.length > 0).length;
  assert.ok(equal <= 0.05 * 120, `${equal} of 120 are equal to it`);
});
