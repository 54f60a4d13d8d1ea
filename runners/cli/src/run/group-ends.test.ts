import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { GroupEnds } from "./group-ends.ts";

const of = (index: number, name: string, seed: number, group?: string) =>
  ({ index, stage: { name, spec: group ? { group } : {} }, axes: { seed } }) as unknown as Instance;
const instances = [
  of(0, "load", 1, "checks"),
  of(1, "memory", 1, "checks"),
  of(2, "load", 2, "checks"),
  of(3, "score", 1),
];

test("a group has ended once all of its stages with the same axes have, and its time is their sum", () => {
  const groups = new GroupEnds(instances);
  assert.equal(groups.ended(instances[0]!, { kind: "succeeded", durationMs: 100 }), undefined);
  assert.equal(groups.ended(instances[3]!, { kind: "succeeded", durationMs: 100 }), undefined);
  assert.deepEqual(groups.ended(instances[1]!, { kind: "succeeded", durationMs: 50 }), {
    name: "checks[seed=1]",
    durationMs: 150,
  });
  assert.equal(groups.ended(instances[1]!, { kind: "succeeded", durationMs: 50 }), undefined, "said once");
});

test("a group with a failure is not done, and a reused one is not named", () => {
  for (const kind of ["failed", "skipped", "cancelled"] as const) {
    const groups = new GroupEnds(instances);
    groups.ended(instances[0]!, { kind, durationMs: 100 });
    assert.equal(groups.ended(instances[1]!, { kind: "succeeded", durationMs: 50 }), undefined);
  }
  assert.equal(new GroupEnds(instances).ended(instances[2]!, { kind: "reused", durationMs: 0 }), undefined);
});
