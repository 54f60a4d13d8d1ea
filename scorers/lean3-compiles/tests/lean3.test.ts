// Runs the Python tests of the checker for Lean 3, and its scorer without a Lean 3.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { readJson } from "@mlrb/kit/json-file";
import { measureParams, readScore, runPython, stageFlags } from "../../testing/measure.ts";
import { runPythonTests } from "../../testing/python-tests.ts";

test("hostile Lean 3 texts do not count as proofs, and honest proofs do", () => {
  runPythonTests(join(import.meta.dirname, "test_lean3.py"), 10);
});

const scorer = "lean3-compiles";

test(`${scorer} is not measured where scorer.yaml names no Lean 3, and its script does not fail`, (t) => {
  const at = mkdtempSync(join(tmpdir(), "mlrb-lean3-"));
  t.after(() => removeFolder(at));
  const [score, samples, rows] = ["score.json", "samples.jsonl", "rows.json"].map((name) =>
    join(at, name),
  ) as [string, string, string];
  const run = (script: string, output: Record<string, string>) =>
    runPython(
      join(import.meta.dirname, "../..", scorer, script),
      stageFlags({ param: measureParams(scorer), input: {}, output }),
      { env: { MLRB_SCORER_COMMAND: "" } },
    );
  const measured = run("measure.py", { score, samples });
  assert.equal(measured.status, 0, measured.stderr);
  const found = readScore(score);
  assert.equal(found.scorer, scorer);
  assert.ok(found.kind === "not-measured");
  assert.match(found.reason, /^scorer\.yaml names no Lean 3 \(command:\); docs\/paper\.md says how/);
  assert.equal(readFileSync(samples, "utf8"), "");
  const anchored = run("references.py", { rows });
  assert.equal(anchored.status, 0, anchored.stderr);
  assert.deepEqual(readJson(rows), { formatVersion: 1, scorer, rows: [] });
});
