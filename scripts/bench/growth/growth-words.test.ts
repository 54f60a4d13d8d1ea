import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { drawPlots } from "./growth-plots.ts";
import { fittedExponent, type Growth, growthWords } from "./growth-words.ts";

const sizes = [10, 100, 1_000, 10_000];

test("the exponent is that of the growth, whatever the start of the process takes", () => {
  for (const exponent of [0.5, 1, 1.4, 2])
    for (const start of [0, 0.3]) {
      const points = sizes.map((size) => ({ size, time: start + 0.001 * size ** exponent }));
      assert.equal(fittedExponent(points), exponent);
    }
});

test("a step that takes about as long at every size is constant", () => {
  const measured = [0.3, 0.34, 0.29, 0.4].map((cpuSeconds, at) => ({
    ...{ size: sizes[at]!, seconds: 1, peakMiB: 1 },
    cpuSeconds,
  }));
  assert.deepEqual(growthWords(measured), { exponent: 0, words: "time is constant" });
});

test("a step is not called worse than linear for the noise of one size, and is for growth beyond it", () => {
  const grown = (...times: number[]) =>
    growthWords(times.map((cpuSeconds, at) => ({ size: sizes[at]!, seconds: 1, peakMiB: 1, cpuSeconds })));
  assert.deepEqual(grown(0.215, 0.205, 0.22, 0.312), { exponent: 1, words: "time is linear, within noise" });
  assert.ok(grown(0.2, 0.2, 0.22, 1.5).exponent > 1.4);
});

test("the plots in docs/performance show growth.json", () => {
  const folder = join(import.meta.dirname, "../../../docs/performance");
  const growth = JSON.parse(readFileSync(join(folder, "growth.json"), "utf8")) as Growth;
  for (const [name, svg] of drawPlots(growth)) assert.equal(readFileSync(join(folder, name), "utf8"), svg);
});
