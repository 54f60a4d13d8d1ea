// Checks that hold for every report of the benchmark, of one task or all.
import assert from "node:assert/strict";
import type { Line } from "./run-program.ts";

/** Checks the attempts of a report where every attempt passed and every scorer measured. */
export function checkAttempts(report: Line, planned: number[]): void {
  const { attempts, tasks, agents } = report;
  const seeds = new Set(attempts.map(({ seed }: Line) => seed));
  assert.deepEqual([...seeds].sort(), planned);
  assert.equal(attempts.length, tasks.length * agents.length * seeds.size, "every attempt is there");
  for (const attempt of attempts) {
    const { kind, rules } = attempt.verdict;
    const open = (rules as Line[]).filter(
      ({ answer, severity }) => answer !== "pass" && severity === "disqualify",
    );
    // the memory of a small model near its limit is the only rule that an estimate leaves undecided
    const expected = kind === "undecided" ? ["memory undecided"] : [];
    assert.ok(kind === "pass" || kind === "undecided", JSON.stringify(attempt));
    assert.deepEqual(
      open.map(({ rule, answer }) => `${rule} ${answer}`),
      expected,
    );
    assert.match(attempt.submission, /^[0-9a-f]{64}$/);
    assert.ok(Object.keys(attempt.scores).length >= 1);
    for (const score of Object.values<Line>(attempt.scores)) {
      assert.equal(score.kind, "scored", JSON.stringify(attempt));
      assert.ok(Number.isFinite(score.value) && Number.isFinite(score.standardError));
    }
  }
}

/** Checks attempts and cells in a report of two seeds where every attempt passed and every scorer measured. */
export function checkReport(report: Line): void {
  checkAttempts(report, [1, 2]);
  const { cells, tasks, agents } = report;
  for (const cell of cells) {
    for (const name of [
      "task",
      "agent",
      "metric",
      "primary",
      "direction",
      "values",
      "mean",
      "passInterval",
      "validInterval",
      "measured",
      "planned",
    ]) {
      assert.ok(name in cell, `a cell lacks ${name}`);
    }
    assert.ok(cell.direction === "higher" || cell.direction === "lower");
    assert.deepEqual([cell.measured, cell.planned, cell.values.length], [2, 2, 2]);
    const centre = cell.counted.reduce((sum: number, value: number) => sum + value, 0) / cell.counted.length;
    const size = Math.max(1, Math.abs(centre));
    assert.ok(
      Math.abs(cell.mean - centre) < 1e-12 * size && Math.abs(cell.validMean - centre) < 1e-12 * size,
    );
    if (cell.validIntervalWithheld === null)
      assert.ok(cell.validInterval[0] <= cell.mean && cell.mean <= cell.validInterval[1]);
    else {
      const repeats = cell.observations < cell.measured;
      assert.deepEqual(
        [cell.validIntervalWithheld, cell.validInterval],
        [repeats ? "repeated" : "no-spread", null],
      );
      assert.equal(new Set(cell.counted).size, 1, "values that differ have an interval");
    }
  }
  for (const { name, primary } of tasks) {
    const decides = cells.filter((cell: Line) => cell.task === name && cell.primary);
    assert.deepEqual(new Set(decides.map(({ metric }: Line) => metric)), new Set([primary]));
    assert.equal(decides.length, agents.length);
  }
}

/** Checks that every task and scorer rejects an agent without a submission. */
export function checkNop(report: Line): void {
  assert.ok(report.attempts.length > 0);
  for (const { agent, verdict, scores } of report.attempts) {
    assert.equal(agent, "nop");
    assert.equal(verdict.kind, "rejected");
    for (const { kind, reason } of Object.values<Line>(scores)) {
      assert.equal(kind, "rejected");
      assert.ok(reason.length > 0);
    }
  }
}
