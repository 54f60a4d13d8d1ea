// How often the first lines name a pair of agents or a task that does not differ, over simulated reports.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import { testSeed } from "../../../../tests/support/test-seed.ts";
import { falseReportsMax, simulatedClaims } from "../testing/simulated-report.ts";

const random = seededRandom(testSeed);

test("of 100 reports with a false rate of 5 %, more than 20 false ones are rarer than one in 10⁷", () => {
  // scipy 1.15.3: stats.binom.sf([19, 20], 100, 0.05) = [1.05e-07, 2.19e-08]
  assert.equal(falseReportsMax(100), 20);
});

for (const [agents, designs] of [
  [2, { 2: 150, 5: 150, 10: 60 }],
  [6, { 2: 50, 5: 10, 10: 2 }],
] as const)
  for (const differing of [0, 3, 7])
    test(`at most 5 % of reports of ${agents} agents that differ at ${differing} of 7 tasks name a false pair or task, and at most 20 % of rejections are hidden`, () => {
      const claims = Object.entries(designs).flatMap(([attempts, count]) =>
        simulatedClaims({ agents, attempts: Number(attempts), differing }, { count, random }),
      );
      const wrong = claims.filter(({ isFalse }) => isFalse).length;
      assert.ok(wrong <= falseReportsMax(claims.length), `${wrong} of ${claims.length} reports`);
      const rejecting = claims.filter(({ rejects }) => rejects);
      const hidden = rejecting.filter(({ isHidden }) => isHidden).length;
      assert.ok(hidden <= 0.2 * rejecting.length, `${hidden} of ${rejecting.length} rejections`);
      if (differing === 7) {
        assert.ok(claims.some(({ named }) => named > 0) || agents > 2, "tasks are named");
        assert.ok(
          claims.some(({ pairs }) => pairs > 0),
          "pairs are named",
        );
      }
    });
