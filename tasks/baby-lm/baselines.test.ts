import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { warmArguments } from "../../tests/support/warm-python.ts";
import { brownDocuments } from "../brown/brown.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-baselines-"));
after(() => rmSync(temporary, { recursive: true }));

for (const name of ["minimal", "reference"]) {
  test(`${name} hands in a whole submission and its record when the deadline leaves no time to train`, () => {
    const workspace = join(temporary, name);
    mkdirSync(join(workspace, "data"), { recursive: true });
    const rows = brownDocuments()
      .slice(0, 30)
      .map(({ filename, content }) => `${JSON.stringify({ filename, content })}\n`);
    writeFileSync(join(workspace, "data/train.jsonl"), rows.join(""));
    const submission = join(workspace, "submission");
    const ran = spawnSync(python(), warmArguments([join(import.meta.dirname, `baselines/${name}.py`)]), {
      cwd: workspace,
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: join(import.meta.dirname, ".."),
        PYTHONDONTWRITEBYTECODE: "1",
        OMP_NUM_THREADS: "1",
        MLRB_TASK: "baby-lm",
        MLRB_SEED: "1",
        MLRB_DEADLINE: String(Math.floor(Date.now() / 1000)),
        MLRB_SUBMISSION: submission,
      },
    });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /the deadline is near: stopped after 0 of \d+ steps/);
    assert.deepEqual(readdirSync(submission).sort(), [
      "config.json",
      "model.safetensors",
      "provenance.json",
      "tokenizer.json",
      "tokenizer_config.json",
    ]);
    const provenance = JSON.parse(readFileSync(join(submission, "provenance.json"), "utf8"));
    assert.deepEqual([provenance.data, provenance.trainTokens], [["brown-smoke"], 0]);
    const iteration = JSON.parse(readFileSync(join(workspace, "iterations.jsonl"), "utf8"));
    assert.equal(iteration.metric.split, "dev");
    assert.ok(iteration.metric.value > 3, "an untrained model cannot do better");
  });
}

function python(): string {
  const found = process.env.MLRB_PYTHON;
  if (found) return found;
  throw new Error(
    "these tests train and need MLRB_PYTHON: the python of an environment made from " +
      "pipelines/environments/ml.lock (`pnpm test` makes one and sets it)",
  );
}
