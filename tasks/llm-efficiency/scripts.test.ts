// Runs the scripted agents on a tiny base model: their training rows, and their submissions at different deadlines.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { canonicalJson } from "@mlrb/kit/json-file";
import { runPastDeadline, runScript, runTaskPython, submissionFiles } from "../testing/run-script.ts";
import { factsOf, trainRows } from "./facts.ts";

const here = import.meta.dirname;
const temporary = mkdtempSync(join(tmpdir(), "mlrb-llm-efficiency-scripts-"));
const given = join(temporary, "given");
before(() => {
  mkdirSync(join(given, "data"), { recursive: true });
  const rows = trainRows(factsOf(3)).map((row) => `${canonicalJson(row)}\n`);
  writeFileSync(join(given, "data/train.jsonl"), rows.join(""));
  python(given, ["llm-efficiency/testing/tiny_base.py", "data/train.jsonl", "models/base"]);
});
after(() => rmSync(temporary, { recursive: true }));

test("both train on the same rows in an order that depends on the seed, without the wordings that they measure", () => {
  const shown = JSON.parse(python(given, ["llm-efficiency/testing/show_batches.py"]));
  assert.deepEqual([shown.rows.length, shown.dev.length], [80, 16]);
  const drawn: Record<string, string[]> = Object.fromEntries(
    Object.entries<string[][]>(shown.drawn).map(([seed, batches]) => [seed, batches.flat()]),
  );
  for (const questions of Object.values(drawn)) {
    assert.equal(questions.length, shown.budget);
    assert.equal(new Set(questions).size, Math.min(questions.length, 80), "none comes again before all came");
    assert.deepEqual(
      questions.filter((question) => shown.dev.includes(question)),
      [],
    );
  }
  assert.notDeepEqual(drawn["1"], drawn["2"]);
  assert.deepEqual(shown.learntOfAll, shown.text);
  assert.deepEqual(shown.learntOfAnswers, shown.answers);
});

for (const agent of ["weak", "strong"]) {
  test(`${agent} submits a whole model and its record when the deadline leaves no time to train`, () => {
    const workspace = workspaceOf(`${agent}-late`);
    const ran = runPastDeadline("llm-efficiency", { agent, workspace });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /the deadline is near: stopped after 0 of \d+ steps/);
    const there = readdirSync(ran.submission);
    assert.deepEqual(
      submissionFiles.filter((file) => !there.includes(file)),
      [],
    );
    const provenance = JSON.parse(readFileSync(join(ran.submission, "provenance.json"), "utf8"));
    assert.deepEqual([provenance.data, provenance.trainTokens], [["invented-facts"], 0]);
    const iteration = JSON.parse(readFileSync(join(workspace, "iterations.jsonl"), "utf8"));
    assert.deepEqual(iteration.metric, { name: "accuracy", split: "dev", value: null });
  });
}

test("one seed submits the same bytes twice, a whole model that differs from the base", () => {
  const [once, twice] = [train("once"), train("twice")];
  for (const file of readdirSync(join(once, "submission"))) {
    assert.ok(bytes(once, file).equals(bytes(twice, file)), file);
    assert.doesNotMatch(file, /adapter/);
  }
  const late = join(temporary, "strong-late");
  assert.ok(!bytes(once, "model.safetensors").equals(bytes(late, "model.safetensors")));
  const iteration = JSON.parse(readFileSync(join(once, "iterations.jsonl"), "utf8"));
  assert.ok(iteration.metric.value >= 0 && iteration.metric.value <= 1);
});

function bytes(workspace: string, file: string): Buffer {
  return readFileSync(join(workspace, "submission", file));
}

function workspaceOf(name: string): string {
  const workspace = join(temporary, name);
  cpSync(given, workspace, { recursive: true });
  return workspace;
}

/** The workspace of a `script-strong` run with enough time. */
function train(name: string): string {
  const workspace = workspaceOf(name);
  const ran = runScript("llm-efficiency", { agent: "strong", workspace }, 600);
  assert.equal(ran.status, 0, ran.stderr);
  return workspace;
}

function python(cwd: string, command: string[]): string {
  const ran = runTaskPython(command, { cwd, path: [join(here, "scripts")] });
  assert.equal(ran.status, 0, ran.stderr);
  return ran.stdout;
}
