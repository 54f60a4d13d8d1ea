// The starter code that agents get at a level of help trains on the data of each task that gives it.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { parquetWriteFile } from "hyparquet-writer";
import { brownDocuments } from "./brown/brown.ts";
import { runTaskPython, submissionFiles } from "./testing/run-script.ts";

const texts = brownDocuments()
  .slice(0, 30)
  .map(({ content }) => content);

for (const { task, column, data } of [
  { task: "baby-lm", column: "content", data: "AlgorithmicResearchGroup/babylm" },
  { task: "mini-pile", column: "text", data: "brown-smoke" },
])
  test(`on ${data} of ${task} a model is trained until shortly before the deadline, saved and admitted`, () => {
    using at = mkdtempDisposableSync(join(tmpdir(), "mlrb-starter-code-"));
    const isSmoke = data === "brown-smoke";
    const folder = isSmoke ? "data" : `data/${data}/data`;
    mkdirSync(join(at.path, folder), { recursive: true });
    if (isSmoke) {
      const rows = texts.map((text) => `${JSON.stringify({ filename: "a", [column]: text })}\n`);
      writeFileSync(join(at.path, folder, "train.jsonl"), rows.join(""));
    } else {
      const filename = join(at.path, folder, "train-00000-of-00001.parquet");
      parquetWriteFile({ filename, columnData: [{ name: column, data: texts }] });
    }
    // it keeps 20 seconds to save, and reads the clock twice in a step
    const env = { MLRB_SEED: "1", MLRB_DEADLINE: "27", HOME: at.path, HF_HUB_OFFLINE: "1" };
    const script = join(import.meta.dirname, "starter-code/train.py");
    const ran = runTaskPython(["testing/counted_clock.py", script], { cwd: at.path, env });
    assert.equal(ran.status, 0, ran.stderr);
    const submission = join(at.path, "submission");
    for (const file of submissionFiles) assert.ok(readdirSync(submission).includes(file), file);
    assert.deepEqual(admit(submission).reasons, []);
    const { data: named, trainTokens } = JSON.parse(
      readFileSync(join(submission, "provenance.json"), "utf8"),
    );
    assert.deepEqual(named, [data]);
    assert.equal(trainTokens, 3 * 16 * 256);
  });
