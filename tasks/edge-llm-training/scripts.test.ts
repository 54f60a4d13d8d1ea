import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { brownDocuments } from "../brown/brown.ts";
import { runPastDeadline, submissionFiles } from "../testing/run-script.ts";
import { instructionPairs } from "./instructions.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-edge-"));
after(() => rmSync(temporary, { recursive: true }));

const deviceBytes = 120_000_000;
const shapes = { weak: { vocabulary: 8000, tied: false }, strong: { vocabulary: 4000, tied: true } };

for (const [agent, { vocabulary, tied }] of Object.entries(shapes)) {
  test(`${agent} submits a whole model that fits the device when the deadline leaves no time to train`, () => {
    const workspace = join(temporary, agent);
    mkdirSync(join(workspace, "data"), { recursive: true });
    const write = (name: string, rows: unknown[]) =>
      writeFileSync(join(workspace, "data", name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    write(
      "train.jsonl",
      brownDocuments()
        .slice(0, 60)
        .map(({ content }) => ({ text: content })),
    );
    write("instructions.jsonl", instructionPairs().train);
    const { submission, status, stdout, stderr } = runPastDeadline("edge-llm-training", {
      agent,
      workspace,
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /the deadline is near: stopped after 0 of \d+ steps/);
    assert.deepEqual(readdirSync(submission).sort(), submissionFiles);

    const read = (name: string) => JSON.parse(readFileSync(join(submission, name), "utf8"));
    const provenance = read("provenance.json");
    assert.deepEqual([provenance.data, provenance.trainTokens], [["brown-smoke", "instructions-smoke"], 0]);
    const config = read("config.json");
    assert.deepEqual(
      [config.n_positions, config.vocab_size, config.tie_word_embeddings],
      [2128, vocabulary, tied],
    );
    const weights = readFileSync(join(submission, "model.safetensors"));
    assert.equal(weights.subarray(8, 65_536).includes('"lm_head.weight"'), !tied);
    assert.ok(weights.length + 2000 * vocabulary * 4 < deviceBytes);

    const iteration = JSON.parse(readFileSync(join(workspace, "iterations.jsonl"), "utf8"));
    assert.deepEqual([iteration.metric.name, iteration.metric.split], ["bits-per-byte", "dev"]);
    assert.ok(iteration.metric.value > 3, "an untrained model cannot do better");
  });
}
