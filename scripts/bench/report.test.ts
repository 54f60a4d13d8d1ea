import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { benchLimits, benchReport } from "./report.ts";

test("the bench's report stage finds a score for each of its 140 attempts", async (t) => {
  const work = mkdtempSync(join(tmpdir(), "mlrb-bench-report-"));
  t.after(() => rmSync(work, { recursive: true }));
  await benchReport(60, { work, row() {} }, 1);
  const { coverage } = JSON.parse(readFileSync(join(work, "report-60/out/report.json"), "utf8"));
  assert.deepEqual([coverage.scores.planned, coverage.scores.scored], [140, 140]);
});

test("the bench measures a report of 70 attempts against its limits of time and memory, with the floor", (t) => {
  const work = mkdtempSync(join(tmpdir(), "mlrb-bench-report-"));
  t.after(() => rmSync(work, { recursive: true }));
  const rows: [string, number][] = [];
  benchLimits(60, { work, row: (what, value) => rows.push([what, value]) }, 1);
  const { coverage } = JSON.parse(readFileSync(join(work, "limits-60/out/report.json"), "utf8"));
  assert.deepEqual([coverage.scores.planned, coverage.scores.scored], [70, 70]);
  assert.equal(rows.filter(([, value]) => value > 0).length, 6);
});
