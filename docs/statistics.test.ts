// The numbers in docs/statistics.md are the ones that the code computes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { detectableSuperiority } from "@mlrb/core/statistics/significance/permutation-power";
import { overTasksTable } from "../scripts/bench/coverage-over-tasks.ts";
import { coverageTable } from "../scripts/bench/coverage-simulation.ts";

const lines = readFileSync(join(import.meta.dirname, "statistics.md"), "utf8").split("\n");

function tableUnder(head: string): string[][] {
  const from = lines.findIndex((line) => line.startsWith(head));
  assert.ok(from >= 0, `no table begins with ${head}`);
  const length = lines.slice(from).findIndex((line) => !line.startsWith("|"));
  return lines.slice(from, from + length).map(cells);
}

function cells(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

test("the coverage table equals the bench: exact rows to the digit, simulated rows within sampling error", () => {
  const printed = tableUnder("| values | interval");
  const again = coverageTable({ seed: 2, datasets: 1500, resamples: 199 }).split("\n").map(cells);
  assert.equal(printed.length, again.length);
  for (const [row, fresh] of again.entries()) {
    if (row < 2 || fresh[0]!.startsWith("yes or no")) {
      assert.deepEqual(printed[row], fresh);
      continue;
    }
    assert.deepEqual(printed[row]!.slice(0, 2), fresh.slice(0, 2));
    for (const column of [2, 3, 4]) {
      const [shown, simulated] = [printed[row]![column]!, fresh[column]!].map(Number.parseFloat);
      // four standard errors of 1500 data sets at 50 % are 5.2
      assert.ok(Math.abs(shown! - simulated!) < 5.2, `${fresh[0]}, ${fresh[1]}: ${shown} and ${simulated}`);
    }
  }
});

const overTasks = () => tableUnder("| values of each agent");

test("the coverage table over tasks equals the bench within sampling error", () => {
  const printed = overTasks();
  const again = overTasksTable({ seed: 2, datasets: 200, permutations: 399 }).split("\n").map(cells);
  assert.equal(printed.length, again.length);
  for (const [row, fresh] of again.entries()) {
    assert.deepEqual(printed[row]!.slice(0, 2), fresh.slice(0, 2));
    for (const column of row < 2 ? [] : [2, 3, 4, 5, 6]) {
      const [shown, simulated] = [printed[row]![column]!, fresh[column]!];
      if (shown === "none" || simulated === "none") assert.equal(shown, simulated);
      // four standard errors of 200 data sets at 95 % are 6.2
      else
        assert.ok(Math.abs(Number(shown) - Number(simulated)) < 6.2, `${fresh[0]}: ${shown}, ${simulated}`);
    }
  }
});

test("the interval of the difference of means covers at least 93 % in every simulated design", () => {
  const shares = overTasks()
    .filter(([, interval]) => interval === "difference of means")
    .flatMap((row) => row.slice(2).filter((share) => share !== "none"));
  assert.ok(shares.length >= 16);
  for (const share of shares) assert.ok(Number(share) >= 93, share);
});

test("the table of detectable differences equals the computed powers", () => {
  const rows = tableUnder("| attempts of each agent").slice(2);
  assert.ok(rows.length >= 5);
  for (const row of rows) {
    const attempts = Number(row[0]);
    const superiority = (tasks: number, alpha: number) => {
      const found = detectableSuperiority({ tasks, attempts: { a: attempts, b: attempts }, alpha });
      if (found.kind === "undetectable") return "none";
      return `${found.superiority.toFixed(2)} (${found.normalShift.toFixed(1)})`;
    };
    assert.deepEqual(row, [row[0], superiority(7, 0.05), superiority(1, 0.05), superiority(1, 0.05 / 7)]);
  }
});
