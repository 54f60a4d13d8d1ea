import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeData } from "../testing/made-data.ts";
import { runPastDeadline } from "../testing/run-baseline.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-image-baselines-"));
after(() => rmSync(temporary, { recursive: true }));

for (const task of ["budget-model-training", "budget-model-inference"])
  test(`${task}: a baseline submits a whole program and its record when the deadline leaves no time to train`, () => {
    const workspace = join(temporary, task);
    const made = makeData(task, { source: "smoke", folder: workspace });
    assert.equal(made.status, 0, made.stderr);
    renameSync(join(workspace, "public"), join(workspace, "data"));
    const { submission, status, stdout, stderr } = runPastDeadline(task, {
      baseline: "reference",
      workspace,
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /the deadline is near: stopped after 0 of \d+ steps/);
    const files = ["main.py", "model.json", "networks.py", "provenance.json", "weights.safetensors"];
    assert.deepEqual(readdirSync(submission).sort(), files);
    const iteration = JSON.parse(readFileSync(join(workspace, "iterations.jsonl"), "utf8"));
    assert.deepEqual([iteration.metric.name, iteration.metric.split], ["image-accuracy", "dev"]);
  });
