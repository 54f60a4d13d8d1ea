import assert from "node:assert/strict";
import { test } from "node:test";
import { largeExample } from "../../testing/large-example.ts";
import { costData, paretoOf } from "./cost-data.ts";

const { report, times } = largeExample();

test("an agent is on the Pareto line unless another one scores at least as well for at most its cost", () => {
  const points = [
    { agent: "dear", spent: 9, score: 0.5 },
    { agent: "cheap", spent: 1, score: 0.2 },
    { agent: "same cost, worse", spent: 1, score: 0.1 },
    { agent: "good", spent: 3, score: 0.5 },
    { agent: "unknown", spent: null, score: 0.9 },
  ];
  assert.deepEqual(
    paretoOf(points).map(({ agent }) => agent),
    ["cheap", "good"],
  );
});

test("a cost that is unknown for one attempt is unknown for the agent, never a mean over the others", () => {
  const [first, ...others] = times!.attempts;
  const attempts = [{ ...first!, dollars: null }, ...others];
  const [dollars] = costData(report, { ...times!, attempts });
  assert.equal(dollars!.amount, "dollars");
  assert.equal(dollars!.agents.find(({ agent }) => agent === first!.agent)!.spent, null);
  assert.ok(dollars!.pareto.every(({ agent }) => agent !== first!.agent));
});

test("a kind of cost that no attempt has is left out", () => {
  const attempts = times!.attempts.map((one) => ({ ...one, dollars: null, gpuHours: 0 }));
  assert.deepEqual(
    costData(report, { ...times!, attempts }).map(({ amount }) => amount),
    ["minutes"],
  );
});
