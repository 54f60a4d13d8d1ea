// Both tasks whose submission is a program, from data to table.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { indexVariables } from "./support/demonstration/play.ts";
import { shareEnvironments } from "./support/environments.ts";
import { leftovers, summary } from "./support/lab.ts";
import { type Line, startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-other-tasks-")));
after(() => {
  repository.remove();
  removeFolder(root);
});

test("a trained program of each task is run confined, judged and scored in four columns", async () => {
  shareEnvironments(root);
  const args = [
    "run",
    "other-tasks",
    "--json",
    "--set",
    "agent=reference",
    "--set",
    "seed=1",
    "--root",
    root,
  ];
  const said = await startProgram(repository.path, args, { env: indexVariables() }).ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(summary(said).outcomes.failed, 0);
  assert.deepEqual(leftovers({ root }), []);
  const file = join(root, "results/other-tasks/smoke+agent=reference,seed=1/report.json");
  const report: Line = JSON.parse(readFileSync(file, "utf8"));
  const attempts = report.attempts as {
    task: string;
    verdict: { kind: string };
    scores: Record<string, Line>;
  }[];
  assert.deepEqual(attempts.map(({ task }) => task).sort(), [
    "budget-model-inference",
    "budget-model-training",
  ]);
  for (const { task, verdict, scores } of attempts) {
    assert.equal(verdict.kind, "pass", task);
    const value = (scorer: string) => (scores[scorer] as { value: number }).value;
    assert.ok(value("image-accuracy") > 0.12, `${task}: no better than a guess`);
    assert.ok(value("inference-seconds") > 0.1 && value("inference-peak-bytes") > 1e8, task);
    const minutes = value("inference-seconds") / 60;
    const twe = value("image-accuracy") ** 2 / minutes;
    assert.ok(Math.abs(value("time-weighted-accuracy") / twe - 1) < 1e-9, task);
  }
});
