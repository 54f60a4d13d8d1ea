import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Plan } from "@mlrb/core/plan/plan";
import type { OutcomeKind } from "@mlrb/core/ports/outcome";
import type { Result } from "@mlrb/local/run/result";
import { type Home, home, smallPlan } from "@mlrb/local/testing/small-plan";
import { Example, passed, scored, textItems } from "@mlrb/report/testing/example";
import { resultsBefore } from "./rescored-run.ts";

const axes = { task: "letters", agent: "plain", seed: 1 };

function plan(): Plan {
  const made = smallPlan(
    { name: "score", axes: { ...axes, scorer: "bits" } },
    { name: "report", gives: { report: "dir" }, publishes: true },
  );
  made.instances[0]!.stage.role = "score";
  return made;
}

function results(kind: OutcomeKind): Result[] {
  return [{ outcome: { kind } as Result["outcome"], outputs: {} }];
}

/** Publishes a report with one score. */
function publish(at: Home, level: number, submission = "files"): string {
  const folder = join(at.root, "results", "small", "smoke");
  const example = new Example();
  example.gives("attempt", axes, { submission });
  example.gives("validate", axes, passed);
  example.gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(level)));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "report.json"), JSON.stringify(example.report()));
  return folder;
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
  publish(at, from);
  const before = await resultsBefore(plan(), { results: results("succeeded"), root: at.root });
  const folder = publish(at, to, submission);
  return before!.rescored(folder, { state: at.open().state, run: "20260103T000000Z-c" });
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

test("without earlier results, and where every score was reused, nothing is compared", async (t) => {
  const at = home(t);
  assert.equal(await resultsBefore(plan(), { results: results("succeeded"), root: at.root }), undefined);
  publish(at, 3);
  assert.equal(await resultsBefore(plan(), { results: results("reused"), root: at.root }), undefined);
});

test("earlier results that cannot be read are no reason to fail", async (t) => {
  const at = home(t);
  writeFileSync(join(publish(at, 3), "report.json"), "{");
  assert.equal(await resultsBefore(plan(), { results: results("succeeded"), root: at.root }), undefined);
});
