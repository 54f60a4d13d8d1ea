import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { brownDocuments } from "../brown/brown.ts";
import { runPastDeadline, submissionFiles } from "../testing/run-script.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-scripts-"));
after(() => rmSync(temporary, { recursive: true }));

for (const agent of ["weak", "strong"]) {
  test(`${agent} submits a whole model and its record when the deadline leaves no time to train`, () => {
    const workspace = join(temporary, agent);
    mkdirSync(join(workspace, "data"), { recursive: true });
    const rows = brownDocuments()
      .slice(0, 30)
      .map(({ filename, content }) => `${JSON.stringify({ filename, content })}\n`);
    writeFileSync(join(workspace, "data/train.jsonl"), rows.join(""));
    const { submission, status, stdout, stderr } = runPastDeadline("baby-lm", { agent, workspace });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /the deadline is near: stopped after 0 of \d+ steps/);
    assert.deepEqual(readdirSync(submission).sort(), submissionFiles);
    const provenance = JSON.parse(readFileSync(join(submission, "provenance.json"), "utf8"));
    assert.deepEqual([provenance.data, provenance.trainTokens], [["brown-smoke"], 0]);
    const iteration = JSON.parse(readFileSync(join(workspace, "iterations.jsonl"), "utf8"));
    assert.equal(iteration.metric.split, "dev");
    assert.ok(iteration.metric.value > 3, "an untrained model cannot do better");
  });
}
