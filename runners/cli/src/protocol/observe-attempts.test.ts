import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { addAdjudication } from "@mlrb/local/records/adjudications";
import { exampleRecord } from "@mlrb/local/testing/example-record";
import { home, smallPlan } from "@mlrb/local/testing/small-plan";
import { attemptHistories, observedAttempts } from "./observe-attempts.ts";

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

test("what happened to attempts is named with its place, and each has the protocol that it started with", (t) => {
  const at = home(t);
  const workspace = at.open();
  const plan = smallPlan(
    ...[1, 2, 3].map((seed) => ({ name: "attempt", axes: { ...axes, seed }, durable: true })),
  );
  for (const { stage } of plan.instances) stage.role = "attempt";
  const protocol = "d".repeat(64);
  const put = (seed: number, startedAt: string) =>
    workspace.attempts.put(
      {
        ...{
          ...exampleRecord,
          axes: { ...axes, seed },
          attemptKey: `key ${seed}`,
          ...(seed === 1 && { protocol }),
        },
        slot: { pipeline: plan.pipeline, profile: plan.profile, stage: plan.instances[seed - 1]!.id },
        ran: { ...exampleRecord.ran, startedAt },
      },
      join(at.root, "no-log"),
    );
  const used = put(1, "2026-05-02T00:00:00.000Z");
  put(1, "2026-05-01T00:00:00.000Z");
  put(2, "2026-05-01T00:00:00.000Z");
  addAdjudication(workspace.state.attempts, {
    ...{ decidedAt: "2026-05-03", record: used, rule: "time", verdict: "pass", by: "ann", reason: "x" },
  });
  addAdjudication(workspace.state.attempts, {
    ...{
      decidedAt: "2026-05-04",
      record: used,
      rule: "leaks.copied",
      verdict: "fail",
      by: "ann",
      reason: "x",
    },
  });
  const attempts = [
    {
      ...{ ...axes, verdict: { kind: "valid" }, note: "accepted as stale", origin: {}, resumed: 1 },
      interventions: { extensions: 2 },
    },
    { ...axes, seed: 2, verdict: { kind: "missing", cause: "its attempt failed" } },
  ];
  const { started, happened } = observedAttempts(plan, workspace, { attempts } as unknown as Report);
  const [first, second, third] = [1, 2, 3].map((seed) => `letters, plain, seed ${seed}`);
  assert.deepEqual(started, [
    { where: first, protocol },
    { where: second, protocol: null },
  ]);
  assert.deepEqual(
    happened.map(({ kind, where, what }) => `${kind} | ${where} | ${what}`),
    [
      `repeated-attempt | ${first} | another recorded attempt (2026-05-01T00:00:00.000Z), which the tables do not use`,
      `resumed-attempt | ${first} | resumed, once`,
      `extended-attempt | ${first} | extended, 2 times; it leaves the primary tables`,
      `imported-attempt | ${first} | made on another machine and imported`,
      `accepted-attempt | ${first} | accepted as stale`,
      `adjudication | ${first} | ann decided pass on the rule time (2026-05-03)`,
      `adjudication | ${first} | ann decided fail on the rule leaks.copied (2026-05-04)`,
      `missing-attempt | ${second} | missing: its attempt failed`,
      `missing-attempt | ${third} | missing: the report does not have it`,
    ],
  );
  assert.deepEqual(
    happened.filter(({ primary }) => primary === "no").map(({ what }) => what),
    ["ann decided fail on the rule leaks.copied (2026-05-04)"],
    "a mark changes no mean",
  );
});
