import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { markdown } from "../formats/markdown.ts";
import { metricHead } from "../sections/report-words.ts";
import { latex } from "../testing/latex.ts";
import { metricOf, storedMetric } from "./shown-metric.ts";

const sample: Report = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../docs/smoke/report.json"), "utf8"),
);

test("a metric of bytes has a unit in its head, and another metric has none", () => {
  assert.equal(metricHead(metricOf(sample, "net-peak-bytes")), "net-peak-bytes, MB ↓");
  assert.equal(metricHead(metricOf(sample, "bits-per-byte")), "bits-per-byte ↓");
  assert.equal(storedMetric(sample, "net-peak-bytes").unit, "bytes", "as in the CSV files");
});

test("no table prints large numbers in powers of ten, and means in MB are the report's means in bytes", () => {
  const text = markdown(sample);
  for (const document of [text, latex(sample)]) assert.doesNotMatch(document, /\de\+\d/);
  const task = "edge-llm-training";
  const [, line] = text.match(new RegExp(`^\\| ${task} \\| net-peak-bytes, MB ↓ \\| (.*)$`, "m"))!;
  const printed = [...line!.matchAll(/([\d.]+) \(/g)].map(([, number]) => Number(number));
  const means = sample.cells.filter((cell) => cell.task === task && cell.metric === "net-peak-bytes");
  assert.deepEqual(
    printed,
    means.map(({ mean }) => Number((mean! / 1e6).toFixed(1))),
  );
});
