import assert from "node:assert/strict";
import { test } from "node:test";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { attemptSums, recordedCost, sumsWords } from "./attempt-sums.ts";

test("only a model of unknown price makes the sum of dollars unknown", () => {
  const estimate = (dollars: number | null) => ({ gpuHours: 0, dollars, timeMs: 1, from: 0 });
  const record = (
    dollars: number | null,
    estimated: number | null,
  ): Pick<AttemptRecord, "cost" | "estimate"> => ({
    cost: { gpuHours: 0, dollars },
    estimate: estimate(estimated),
  });
  const words = (...of: ReturnType<typeof record>[]) => sumsWords(attemptSums(of.map(recordedCost), []));
  assert.equal(words(record(null, 0), record(1.5, null)), "1.50 dollars in total");
  assert.equal(words(record(null, 0)), undefined);
  assert.equal(words(record(null, null), record(1.5, null)), "an unknown number of dollars in total");
});

test("the sum includes the cost of lost, ended and running attempts", () => {
  const cost = (dollars: number) => ({ gpuHours: 0, dollars });
  const others = [
    { kind: "lost", cost: cost(1) },
    { kind: "ended", cost: cost(2) },
    { kind: "running", cost: cost(4) },
  ] as const;
  assert.equal(
    sumsWords(attemptSums([cost(8)], [...others])),
    "15.00 dollars in total, including 1.00 dollars by 1 lost, 2.00 dollars by 1 ended, which the next run records, 4.00 dollars by 1 running",
  );
});
