// What the scheduler books for a stage, on this host and elsewhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { amountsOf, cpusAt } from "@mlrb/core/schedule/amounts";
import { home, smallPlan } from "../testing/small-plan.ts";
import { capacity } from "./capacity.ts";
import { workOf } from "./work-of.ts";

test("stages of a cluster run next to a stage that holds every CPU of this host", (t) => {
  const resources = { cpus: 2, memoryBytes: 2 ** 40, gpus: 4, pools: {} };
  const plan = smallPlan(
    { name: "here", execution: { executor: "local", resources: { cpus: 2 } } },
    { name: "there", execution: { executor: "slurm", resources } },
    { name: "thereToo", execution: { executor: "slurm", resources } },
  );
  const workspace = home(t).open();
  const works = plan.instances.map((one) => workOf(one, { plan, position: new Map(), workspace }).resources);
  const { whole, wants } = amountsOf(capacity({ plan, selected: [0, 1, 2], jobs: 2 }));
  const held = works.map((one) => wants(one));
  for (const at of whole.keys()) {
    const sum = held.reduce((total, amounts) => total + amounts[at]!, 0);
    assert.ok(sum <= whole[at]!, `all three fit: ${sum} of ${whole[at]} of kind ${at}`);
  }
  assert.ok(
    whole[cpusAt]! - held[1]![cpusAt]! - held[2]![cpusAt]! < 2 * held[0]![cpusAt]!,
    "a second one here does not",
  );
});
