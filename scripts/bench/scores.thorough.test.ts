// The bench of 28 scores runs: one model and one scorer of its pipeline, held to the permissions of a stage.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { testPython } from "../../scorers/testing/submissions.ts";
import { shareEnvironments } from "../../tests/support/environments.ts";
import { scoresOf, scoresPipeline } from "./scores-together.ts";
import { pipeline, run } from "./tools.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-bench-test-"));
// a pipeline must be a file of the repository
const folder = join(import.meta.dirname, `../../.mlrb/bench/run-${process.pid}`);
after(() => {
  rmSync(temporary, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

test("each score of the bench's pipeline succeeds and notes its compute", () => {
  const data = join(temporary, "public");
  const tokenizer = join(temporary, "tokenizer.json");
  const outputs = [`--output=public=${data}`, `--output=private=${join(temporary, "private")}`];
  run(process.execPath, ["tasks/baby-lm/data.ts", "--param=source=smoke", ...outputs]);
  run(testPython(), ["scripts/bench/model.py", `--input=public=${data}`, `--output=tokenizer=${tokenizer}`]);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "bench-scores.yaml");
  const scorers = ["bits-per-byte"];
  writeFileSync(file, scoresPipeline({ tokenizer, round: 0, scorers, models: 1 }));
  const root = join(temporary, "root");
  shareEnvironments(root);
  pipeline("run", file, "--root", root); // throws when a stage fails
  const { noted, startedAt } = scoresOf(root);
  assert.equal(noted.length, 1);
  assert.ok(noted[0]!.computeSeconds > 0 && noted[0]!.begun > startedAt);
});
