import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { nastyExample } from "../testing/nasty-example.ts";
import { secondaryMeans, secondarySection } from "./secondary-section.ts";

/** The nasty run with these secondary measurements of one agent's attempts, by seed. */
function withExtra(extras: Record<string, number>[]): Report {
  const report = structuredClone(nastyExample().report());
  const own = report.attempts.filter(({ task, agent }) => task === "letters" && agent === "plain");
  for (const [at, extra] of extras.entries()) {
    const score = own[at]!.scores.bits!;
    assert.equal(score.kind, "scored");
    if (score.kind === "scored") score.extra = extra;
  }
  return report;
}

const rowOf = (report: Report, name: string) =>
  secondaryMeans(report).find(
    (each) => each.task === "letters" && each.metric === "bits" && each.name === name,
  );

test("a secondary measurement is averaged over the valid attempts that have it", () => {
  const report = withExtra([{ latency: 0.5, bytes: 12_345_678 }, { latency: 0.25 }]);
  assert.deepEqual(
    rowOf(report, "latency")!.agents.find(({ agent }) => agent === "plain"),
    { agent: "plain", mean: 0.375, attempts: 2, planned: 2 },
  );
  assert.equal(rowOf(report, "bytes")!.agents.find(({ agent }) => agent === "plain")!.attempts, 1);
  const rows = secondarySection(report).tables[0]!.groups.flatMap((group) => group.rows);
  const cells = rows
    .filter((row) => ["latency", "bytes, MB"].includes(row[1]!.lines[0]!))
    .map((row) => row[2]!.lines[0]);
  assert.deepEqual(cells, ["12.3 (1/2)", "0.375 (2/2)"]);
});

test("disqualified attempts do not enter secondary measurements", () => {
  const report = withExtra([{ latency: 1 }, { latency: 3 }]);
  const [first] = report.attempts.filter(({ task, agent }) => task === "letters" && agent === "plain");
  first!.verdict = { kind: "disqualified", machine: "disqualified", rules: [], facts: {} };
  assert.equal(rowOf(report, "latency")!.agents.find(({ agent }) => agent === "plain")!.mean, 3);
});

test("a measurement may have the name of a property of every object", () => {
  assert.equal(rowOf(withExtra([{ constructor: 2 }]), "constructor")!.agents[0]!.mean, 2);
});
