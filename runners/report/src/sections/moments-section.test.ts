import assert from "node:assert/strict";
import { test } from "node:test";
import { Example, passed, rejectedScore, scored, textItems } from "../testing/example.ts";
import { momentsSection } from "./moments-section.ts";

test("a checkpoint never changes a mean, and a spoiled submission's earlier score is shown", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const then = { ...axes, moment: "75%" };
  const why = "not admitted: model.safetensors: cut off";
  const example = new Example({ floors: { letters: { bits: 4 } } })
    .gives("attempt", axes, { submission: "sha256:spoiled" })
    .gives("validate", axes, { verdict: { formatVersion: 2, kind: "rejected", rules: [], facts: {} } })
    .gives("score", { ...axes, scorer: "bits" }, rejectedScore("bits", why))
    .gives("moment", then, {
      checkpoint: "sha256:good",
      moment: { formatVersion: 1, stood: { kind: "snapshot", name: "0001" }, admitted: true, reasons: [] },
    })
    .gives("moment-score", { ...then, scorer: "bits" }, scored("bits", textItems(2)));
  const report = example.report();
  assert.deepEqual(
    report.attempts[0]!.moments.map(({ moment, share, admission, scores }) => [
      moment,
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
  const { items } = momentsSection(report);
  assert.match(items[0]!.text, /rejected \(model.safetensors: cut off\).* at 75% \d\.\d+; they do not count/);
});

test("checkpoints that equal the final submission, or are not planned, are not shown", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const example = new Example()
    .gives("attempt", axes, { submission: "sha256:same" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
  assert.deepEqual(example.report().attempts[0]!.moments, []);
  const stood = { stood: { kind: "final" }, admitted: true, reasons: [] };
  const report = example
    .gives(
      "moment",
      { ...axes, moment: "50%" },
      { submission: "sha256:same", moment: { formatVersion: 1, ...stood } },
    )
    .gives("moment-score", { ...axes, moment: "50%", scorer: "bits" }, scored("bits", textItems(2)))
    .report();
  assert.equal(report.attempts[0]!.moments.length, 2);
  assert.deepEqual(momentsSection(report).tables, []);
});

test("a checkpoint that the harness lost, or that cannot be read, is not measured and a gap", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const at = (moment: string) => ({ ...axes, moment });
  const report = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)))
    .fails("moment", at("25%"), "failed", "it was not kept")
    .fails("moment-score", { ...at("25%"), scorer: "bits" }, "skipped", "moment failed")
    .gives("moment", at("50%"), {
      checkpoint: "sha256:y",
      moment: '{"formatVersion":1,"stood":{"kind":"odd"},"admitted":true,"reasons":[]}',
    })
    .gives("moment-score", { ...at("50%"), scorer: "bits" }, scored("bits", textItems(2)))
    .report();
  assert.deepEqual(
    report.attempts[0]!.moments.map(({ admission }) => admission),
    [
      { kind: "missing", cause: "moment failed: it was not kept" },
      {
        kind: "missing",
        cause: 'unreadable moment (stood.kind is "odd", not one of none, snapshot, final)',
      },
      { kind: "admitted" },
    ],
  );
  assert.deepEqual(
    report.coverage.gaps.map(({ stage }) => stage.replace(/\[.*/, "")).filter((name) => name === "moment"),
    ["moment", "moment"],
  );
});
