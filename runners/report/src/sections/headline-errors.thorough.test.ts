// As headline-errors.test.ts, each design alone over many reports.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import { testSeed } from "../../../../tests/support/test-seed.ts";
import { falseReportsMax, simulatedClaims } from "../testing/simulated-report.ts";

const random = seededRandom(testSeed);

for (const [agents, count] of [
  [2, 1500],
  [6, 150],
] as const)
  for (const attempts of [2, 5, 10])
    for (const differing of [0, 3, 7])
      test(`at most 5 % of reports of ${agents} agents with ${attempts} attempts each and ${differing} true differences name a false pair or task`, () => {
        const claims = simulatedClaims({ agents, attempts, differing }, { count, random });
        const wrong = claims.filter(({ isFalse }) => isFalse).length;
        assert.ok(wrong <= falseReportsMax(count), `${wrong} of ${count} reports`);
        const rejecting = claims.filter(({ rejects }) => rejects);
        assert.ok(rejecting.filter(({ isHidden }) => isHidden).length <= 0.2 * rejecting.length);
      });
