import assert from "node:assert/strict";
import { test } from "node:test";
import { Example, passed, rejectedScore, scored, textItems } from "../testing/example.ts";
import { checkpointsSection } from "./checkpoints-section.ts";

test("a checkpoint never changes a mean, and a spoiled submission's earlier score is shown", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const then = { ...axes, checkpoint: "75%" };
  const why = "not admitted: model.safetensors: cut off";
  const example = new Example({ baselines: { letters: { bits: 4 } } })
    .gives("attempt", axes, { submission: "sha256:spoiled" })
    .gives("validate", axes, { verdict: { formatVersion: 1, kind: "rejected", rules: [], facts: {} } })
    .gives("score", { ...axes, scorer: "bits" }, rejectedScore("bits", why))
    .gives("checkpoint", then, {
      contents: "sha256:good",
      checkpoint: {
        formatVersion: 1,
        stood: { kind: "snapshot", name: "0001" },
        admitted: true,
        reasons: [],
      },
    })
    .gives("checkpoint-score", { ...then, scorer: "bits" }, scored("bits", textItems(2)));
  const report = example.report();
  assert.deepEqual(
    report.attempts[0]!.checkpoints.map(({ checkpoint, share, admission, scores }) => [
      checkpoint,
      share,
      admission,
      scores.bits!.kind,
    ]),
    [
      ["75%", 0.75, { kind: "admitted" }, "scored"],
      ["100%", 1, { kind: "rejected", why: "model.safetensors: cut off" }, "rejected"],
    ],
  );
  assert.deepEqual([report.cells[0]!.mean, report.cells[0]!.rejected], [4, 1]);
  assert.deepEqual(report.coverage.scores.planned, 1);
  const { items } = checkpointsSection(report);
  assert.match(items[0]!.text, /rejected \(model.safetensors: cut off\).* at 75% \d\.\d+; they do not count/);
});

test("checkpoints that equal the final submission, or are not planned, are not shown", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const example = new Example()
    .gives("attempt", axes, { submission: "sha256:same" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
  assert.deepEqual(example.report().attempts[0]!.checkpoints, []);
  const stood = { stood: { kind: "final" }, admitted: true, reasons: [] };
  const report = example
    .gives(
      "checkpoint",
      { ...axes, checkpoint: "50%" },
      { submission: "sha256:same", checkpoint: { formatVersion: 1, ...stood } },
    )
    .gives("checkpoint-score", { ...axes, checkpoint: "50%", scorer: "bits" }, scored("bits", textItems(2)))
    .report();
  assert.equal(report.attempts[0]!.checkpoints.length, 2);
  assert.deepEqual(checkpointsSection(report).tables, []);
});

test("a checkpoint that the harness lost, or that cannot be read, is not measured and a gap", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const at = (checkpoint: string) => ({ ...axes, checkpoint });
  const report = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)))
    .fails("checkpoint", at("25%"), "failed", "it was not kept")
    .fails("checkpoint-score", { ...at("25%"), scorer: "bits" }, "skipped", "checkpoint failed")
    .gives("checkpoint", at("50%"), {
      contents: "sha256:y",
      checkpoint: '{"formatVersion":1,"stood":{"kind":"odd"},"admitted":true,"reasons":[]}',
    })
    .gives("checkpoint-score", { ...at("50%"), scorer: "bits" }, scored("bits", textItems(2)))
    .report();
  assert.deepEqual(
    report.attempts[0]!.checkpoints.map(({ admission }) => admission),
    [
      { kind: "missing", cause: "checkpoint failed: it was not kept" },
      {
        kind: "missing",
        cause: 'unreadable checkpoint (stood.kind is "odd", not one of none, snapshot, final)',
      },
      { kind: "admitted" },
    ],
  );
  assert.deepEqual(
    report.coverage.gaps
      .map(({ stage }) => stage.replace(/\[.*/, ""))
      .filter((name) => name === "checkpoint"),
    ["checkpoint", "checkpoint"],
  );
});
