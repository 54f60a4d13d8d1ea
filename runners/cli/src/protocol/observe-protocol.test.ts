import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { home, smallPlan } from "@mlrb/local/testing/small-plan";
import { protocolEvidence } from "./observe-protocol.ts";

test("the attempts of the report are compared, also those that today's plan no longer has", (t) => {
  const at = home(t);
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const plan = smallPlan({ name: "attempt", axes, durable: true });
  plan.instances[0]!.stage.role = "attempt";
  at.write("protocols/small/smoke.json", "{}");
  const report = { tasks: [], attempts: [axes, { ...axes, seed: 2 }] } as unknown as Report;
  const { observation } = protocolEvidence({ plan, workspace: at.open() }, report)!;
  assert.deepEqual(observation.arms, [{ task: "letters", agent: "plain", seeds: [1, 2] }]);
});
