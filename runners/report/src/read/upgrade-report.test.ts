import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { report4 } from "@mlrb/formats/report-4";
import { markdown } from "../formats/markdown.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { upgradedReport } from "./upgrade-report.ts";

// report.json of the nasty run, as formatVersion 4 was written
const file = join(import.meta.dirname, "../../golden/nasty-format-4.json.txt");
const old = () => mustFollow(report4, JSON.parse(readFileSync(file, "utf8")), "report.json");

test("a report of formatVersion 4 has today's verdicts and cells, without kinds of reference models", () => {
  const upgraded = upgradedReport(old());
  mustFollow(reportFormat, JSON.parse(JSON.stringify(upgraded)), "upgraded");
  const numbers = (report: typeof upgraded) =>
    report.cells.map(({ anchorKind: _, notes: _notes, errors: _errors, ...cell }) => cell);
  const today = nastyExample({ people: false }).report();
  assert.deepEqual(numbers(upgraded), numbers(today));
  const unknown = { distinctValid: null, runs: null, limits: [] };
  const asOld = today.attempts.map((attempt) =>
    attempt.research?.kind === "found"
      ? { ...attempt, research: { ...asInFormat4(attempt.research), ...unknown } }
      : attempt,
  );
  assert.deepEqual(upgraded.attempts, asOld);
  assert.deepEqual(upgraded.coverage, today.coverage);
  assert.equal(upgraded.coverage.attempts.undecided, 1);
  assert.deepEqual(upgraded.sensitivity, today.sensitivity);
  assert.deepEqual(
    new Set(upgraded.rows.map(({ name, kind }) => name === "floor" || kind === null)),
    new Set([true]),
  );
  assert.deepEqual([upgraded.acrossTasks.kind, upgraded.acrossTasks.tasks], [null, []]);
  assert.match(markdown(upgraded), /the kind of the reference model bigram is unknown/);
});

/** Reports of formatVersion 4 have neither. */
function asInFormat4<Found extends { benchmarkCalls?: unknown; ends?: unknown }>({
  benchmarkCalls: _,
  ends: _ends,
  ...rest
}: Found) {
  return rest;
}

test("the labels of an old report, whose precision nobody measured, are not printed", () => {
  const text = readFileSync(file, "utf8");
  assert.match(text, /worse-was-kept/);
  assert.doesNotMatch(markdown(upgradedReport(old())), /worse-was-kept|agent-error/);
});

test("an agent of an old report is seeded only if its comparisons do not say otherwise", () => {
  const report = old();
  const repeated = { ...report, attempts: report.attempts.map((each) => ({ ...each, submission: "same" })) };
  const observations = (why: string) => {
    const [first] = report.agentComparisons;
    const agentComparisons = [{ ...first!, pairs: { kind: "not-paired", why } }];
    const { cells } = upgradedReport({ ...repeated, agentComparisons });
    return ["plain", "strong"].map(
      (name) => cells.find(({ agent, metric }) => agent === name && metric === "bits")!.observations,
    );
  };
  assert.deepEqual(observations("plain and strong are not declared `seeded`"), [2, 2]);
  assert.deepEqual(observations("strong is not declared `seeded`"), [1, 2]);
});
