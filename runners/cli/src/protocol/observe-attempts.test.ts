import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { exampleRecord } from "@mlrb/local/testing/example-record";
import { home, smallPlan } from "@mlrb/local/testing/small-plan";
import { attemptHistories } from "./observe-attempts.ts";

const axes = { task: "letters", agent: "plain", seed: 1 };

test("an attempt with the same key in another profile is a repeat, and one with another key is not", (t) => {
  const at = home(t);
  const workspace = at.open();
  const plan = smallPlan({ name: "attempt", axes, durable: true });
  plan.instances[0]!.stage.role = "attempt";
  const slot = { pipeline: plan.pipeline, profile: plan.profile, stage: plan.instances[0]!.id };
  const day = (n: number) => `2026-05-0${n}T00:00:00.000Z`;
  const put = (profile: string, attemptKey: string, startedAt: string) =>
    workspace.attempts.put(
      {
        ...{ ...exampleRecord, axes, attemptKey, slot: { ...slot, profile } },
        ran: { ...exampleRecord.ran, startedAt },
      },
      join(at.root, "no-log"),
    );
  put("rehearsal", "key", day(1));
  put("rehearsal", "other key", day(2));
  put(plan.profile, "old key", day(3));
  const record = put(plan.profile, "key", day(4));
  const other = { kind: "recorded", cause: "" };
  const [found, ...none] = attemptHistories(plan, workspace);
  assert.deepEqual(none, []);
  assert.deepEqual(found!.used, { record, startedAt: day(4) });
  assert.deepEqual(
    found!.others.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)),
    [
      { ...other, startedAt: day(1) },
      { ...other, startedAt: day(3) },
    ],
  );
});
