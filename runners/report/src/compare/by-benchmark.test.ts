import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell } from "@mlrb/formats/report/cell";
import { nastyExample } from "../testing/nasty-example.ts";
import { meanByBenchmark } from "./by-benchmark.ts";

const cell = nastyExample()
  .report()
  .cells.find(({ primary }) => primary)!;

/** One agent's normalised means at tasks, each with the metric that decides it. */
function meanOf(means: [task: string, metric: string, normalisedMean: number | null][]) {
  const cells = means.map(
    ([task, metric, normalisedMean]): Cell => ({ ...cell, task, metric, normalisedMean, agent: "one" }),
  );
  const secondary = { ...cells[0]!, primary: false, normalisedMean: 9 };
  return meanByBenchmark(
    { cells: [...cells, secondary] },
    { agent: "one", tasks: means.map(([task]) => task) },
  );
}

test("a benchmark of three tasks has the weight of a benchmark of one", () => {
  assert.deepEqual(
    meanOf([
      ["efficiency", "mmlu", 0.9],
      ["merging", "mmlu", 0.6],
      ["compression", "mmlu", 0.9],
      ["baby-lm", "blimp", 0.2],
    ]),
    { value: 0.5, n: 2 },
  );
});

test("tasks without a normalised mean count neither for a mean nor as a benchmark", () => {
  assert.deepEqual(
    meanOf([
      ["efficiency", "mmlu", 0.4],
      ["merging", "mmlu", null],
      ["baby-lm", "blimp", null],
    ]),
    { value: 0.4, n: 1 },
  );
  assert.deepEqual(meanOf([["baby-lm", "blimp", null]]), { value: null, n: 0 });
});
