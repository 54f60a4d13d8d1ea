// The example of docs/guide.md runs on the committed sample.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";

const text = readFileSync(join(import.meta.dirname, "guide.md"), "utf8");

const python = process.env.MLRB_PYTHON;
const hasPandas = python !== undefined && spawnSync(python, ["-c", "import pandas"]).status === 0;

test("the example with pandas prints the mean of every task of the sample", {
  skip: hasPandas ? false : "needs MLRB_PYTHON with pandas",
}, () => {
  const [, code] = /```python\n([\s\S]*?)```/.exec(text)!;
  assert.ok(code!.trim().split("\n").length <= 10, "ten lines");
  const sample = join(import.meta.dirname, "sample");
  const { status, stdout, stderr } = spawnSync(python!, ["-c", code!, sample], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const { cells } = JSON.parse(readFileSync(join(sample, "report.json"), "utf8")) as Report;
  for (const [task, own] of Map.groupBy(cells, (cell) => cell.task)) {
    const means = own.flatMap(({ primary, mean }) => (primary ? [mean!.toFixed(3)] : []));
    assert.match(stdout, new RegExp(`^${[task, ...means].join(" +")}$`, "m"));
  }
});
