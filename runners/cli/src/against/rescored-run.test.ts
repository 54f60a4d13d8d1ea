import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { publishResults } from "@mlrb/local/run/publish-results";
import type { Result } from "@mlrb/local/run/result";
import { type Home, home, smallPlan } from "@mlrb/local/testing/small-plan";
import { Example, passed, scored, textItems } from "@mlrb/report/testing/example";
import { resultsBefore } from "./rescored-run.ts";

const axes = { task: "letters", agent: "plain", seed: 1 };

const plan = smallPlan({ name: "report", gives: { report: "dir" }, publishes: true });

/** The results of a run whose report has one score. They are the same whether the score was measured or reused. */
function resultsOf(at: Home, level: number, submission = "files"): Result[] {
  const folder = join(at.root, "made");
  const example = new Example();
  example.gives("attempt", axes, { submission });
  example.gives("validate", axes, passed);
  example.gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(level)));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "report.json"), JSON.stringify(example.report()));
  return [{ outcome: { kind: "reused" }, outputs: { report: at.open().store.put(folder, "dir") } }];
}

function publish(at: Home, results: Result[]): string {
  return publishResults(plan, results, at.open())!.folder;
}

/** Writes the journal of a run that made a report. */
function journal(at: Home, run: string, selection = ""): void {
  const lines = [
    { event: "begin", run, pipeline: "small", profile: "smoke", selection },
    { event: "stage", stage: "report", outcome: { kind: "succeeded" }, key: "k" },
  ];
  const path = join(at.open().state.journals, `${run}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function rescoredIn(
  t: TestContext,
  { from, to, submission }: { from: number; to: number; submission?: string },
) {
  const at = home(t);
  journal(at, "20260101T000000Z-a");
  journal(at, "20260102T000000Z-b", "agent=nop");
  journal(at, "20260103T000000Z-c");
  publish(at, resultsOf(at, from));
  const results = resultsOf(at, to, submission);
  const before = await resultsBefore(plan, { results, workspace: at.open() });
  return before?.rescored(publish(at, results), "20260103T000000Z-c");
}

test("another score of the same submission is rescored since the last run of the same selection", async (t) => {
  const found = await rescoredIn(t, { from: 3, to: 2.9 });
  assert.equal(found!.text, "rescored 1 of 1 scores: bits mean −0.100");
  assert.equal(found!.since, "20260101T000000Z-a");
});

test("an equal score, and a score of another submission, are not rescored", async (t) => {
  assert.equal(await rescoredIn(t, { from: 3, to: 3 }), undefined);
  assert.equal(await rescoredIn(t, { from: 3, to: 2.9, submission: "others" }), undefined);
});

test("nothing is compared without earlier results, or if the report stays as it is", async (t) => {
  const at = home(t);
  const results = resultsOf(at, 3);
  assert.equal(await resultsBefore(plan, { results, workspace: at.open() }), undefined);
  publish(at, results);
  assert.equal(await resultsBefore(plan, { results, workspace: at.open() }), undefined);
  assert.notEqual(
    await resultsBefore(plan, { results: resultsOf(at, 2.9), workspace: at.open() }),
    undefined,
  );
});

test("earlier results that cannot be read are no reason to fail", async (t) => {
  const at = home(t);
  const path = join(publish(at, resultsOf(at, 3)), "report.json");
  writeFileSync(path, readFileSync(path, "utf8").slice(0, 100));
  assert.equal(await resultsBefore(plan, { results: resultsOf(at, 2), workspace: at.open() }), undefined);
});
