// Follows "Add a task" of docs/authors.md exactly: writes the files that the guide shows, no others, and runs its
// commands.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { copyBenchmarkState } from "./support/benchmark-state.ts";
import { outcomes } from "./support/lab.ts";
import { type Line, startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-add-a-task-")));
const root = join(above, "root");
after(() => {
  repository.remove();
  removeFolder(above);
});
await copyBenchmarkState(root);
const pipeline = (...args: string[]) => startProgram(repository.path, args).ended;

test("the folder from the guide is a task: it is checked, attempted, validated and scored, and its strong baseline beats the trivial baseline and the weak one", {
  timeout: 15 * 60_000,
}, async () => {
  const guide = readFileSync(join(import.meta.dirname, "../docs/authors.md"), "utf8");
  const files = [...guide.matchAll(/^```\w+ (tasks\/toy\/\S+)\n(.*?)^```$/gms)];
  assert.equal(files.length, 6);
  for (const [, path, text] of files) repository.write(path!, text!);

  const checked = await pipeline("check");
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  const said = await pipeline("run", "full-benchmark", "--json", "--set", "task=toy", "--root", root);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.ok(
    Object.keys(outcomes(said)).some((stage) => stage.startsWith("attempt[task=toy,agent=script-strong")),
  );
  const report = JSON.parse(
    readFileSync(join(root, "results/full-benchmark/smoke+task=toy/report.json"), "utf8"),
  );
  assert.equal(report.attempts.length, 4);
  for (const { verdict, scores } of report.attempts) {
    assert.equal(verdict.kind, "pass", JSON.stringify(verdict));
    assert.equal(scores["bits-per-byte"].kind, "scored");
  }
  const [compared] = report.comparisons as Line[];
  assert.deepEqual([compared!.better, compared!.clear], ["script-strong", true]);
  const names = report.rows.map(({ name }: Line) => name).sort();
  assert.deepEqual(names, ["bigram", "random-weights", "unigram"]);
  assert.deepEqual([report.cells[0].baselineName, report.cells[0].referenceName], ["unigram", "bigram"]);
  assert.equal(report.rows.find(({ reference }: Line) => reference)!.name, "bigram");
  const bits = (agent: string): Line[] =>
    report.attempts
      .filter((attempt: Line) => attempt.agent === agent)
      .map(({ scores }: Line) => scores["bits-per-byte"]);
  const [strong, weak] = [bits("script-strong"), bits("script-weak")];
  assert.deepEqual([strong.length, weak.length], [2, 2]);
  const trivial: Line = report.rows.find(({ baseline }: Line) => baseline)!;
  for (const one of strong)
    for (const other of [trivial, ...weak]) {
      const errors = Math.hypot(one.standardError, other.standardError);
      assert.ok(other.value - one.value > 5 * errors, `${one.value} against ${other.value}, error ${errors}`);
    }
});
