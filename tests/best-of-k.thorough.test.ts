// The best of two, of attempts that full-benchmark made: public rows are scored, the report has the section and charges
// the scoring. Here training texts stand for public rows, since the task has no others in smoke.
import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { times } from "@mlrb/formats/times";
import { readJson } from "@mlrb/kit/json-file";
import { copyBenchmarkState, oneTask } from "./support/benchmark-state.ts";
import { outcomes } from "./support/lab.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

test("the best of two in smoke", async (t) => {
  const repository = throwAwayRepository();
  t.after(() => repository.remove());
  const manifest = join(repository.path, `tasks/${oneTask}/task.yaml`);
  const dev = "{ scorer: bits-per-byte, rows: train.jsonl, text: content, as: heldout.jsonl, most: 3 }";
  const text = readFileSync(manifest, "utf8");
  writeFileSync(
    manifest,
    text.replace(/^devScorers:.*/m, (line) => `${line}\n  smoke: ${dev}`),
  );
  const root = join(repository.path, "root");
  await copyBenchmarkState(root);
  const command = ["run", "best-of-k", "--json", "--set", `task=${oneTask}`, "--root", root];
  const ran = await startProgram(repository.path, command).ended;
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  const made = Object.entries(outcomes(ran));
  for (const [stage, outcome] of made)
    if (stage.startsWith("attempt[")) assert.equal(outcome, "reused", "no attempt is paid twice");
  const [file] = globSync("results/best-of-k/*/report.json", { cwd: root });
  const folder = dirname(join(root, file!));
  const { bestOf } = mustFollow(reportFormat, readJson(join(folder, "report.json")), "report.json");
  const two = bestOf!.cells.filter(({ k }) => k === 2);
  assert.equal(two.length, 2, "both agents");
  for (const { groups, mean, oracle, successes, n } of two) {
    const [{ by, seeds, chosen, value, ...group }] = groups as [(typeof groups)[number]];
    assert.deepEqual([groups.length, by, seeds, n], [1, "dev", [1, 2], 2]);
    const [first, second] = group.dev as [number, number];
    assert.equal(chosen, first <= second ? 1 : 2, "fewer bits per byte of public text");
    assert.ok(mean === value && oracle! <= mean!, "fewer are better");
    assert.ok(successes !== null);
  }
  assert.match(readFileSync(join(folder, "report.md"), "utf8"), /chosen by bits-per-byte on public rows/);
  const taken = mustFollow(times, readJson(join(folder, "times.json")), "times.json");
  assert.ok(taken.attempts.every(({ devSeconds = 0 }) => devSeconds > 0));
  assert.match(readFileSync(join(folder, "costs.md"), "utf8"), /public rows, s/);
});
