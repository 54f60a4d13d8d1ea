import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Plan } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import { makeAttemptFolder } from "../attempts/attempt-folders.ts";
import { writeOrigin } from "../records/record-origins.ts";
import { thinRecords } from "../records/thin-records.ts";
import { reusedResult } from "../run/instance-ends.ts";
import type { StalePolicy } from "../run/run-request.ts";
import { exampleCard, exampleRecord } from "../testing/example-record.ts";
import { type Home, home, type SmallStage, smallPlan } from "../testing/small-plan.ts";
import { bind } from "./bind-inputs.ts";
import { type DecideContext, type Decision, decideInstance } from "./decide-instance.ts";
import { previewPlan } from "./preview-plan.ts";

const attempt: SmallStage = { name: "attempt", durable: true };
const otherParams: SmallStage = { ...attempt, action: { params: { added: 1 } } };

const boundOf = (at: Home, plan: Plan, index = 0) =>
  bind(plan.instances[index]!, { plan, results: [], workspace: at.open() });

/** Decides as a new process does; `runners` are the actions that already run. */
function decide(
  at: Home,
  plan: Plan,
  {
    stale = { kind: "leave" },
    runners = new Map(),
  }: { stale?: StalePolicy; runners?: Map<string, number> } = {},
): Promise<Decision> {
  const context = { plan, workspace: at.open(), results: [], stale, runners };
  return decideInstance(plan.instances[0]!, context);
}

/** A plan whose attempt has a record made from other parameters. */
async function staleAttempt(t: TestContext): Promise<{ at: Home; plan: Plan; digest: string }> {
  const at = home(t);
  const { key, parts } = await boundOf(at, smallPlan(attempt));
  const slot = { pipeline: "small", profile: "smoke", stage: "attempt" };
  const record = { ...exampleRecord, slot, attemptKey: key, parts };
  const digest = at.open().attempts.put(record, join(at.root, "no log"));
  return { at, plan: smallPlan(otherParams), digest };
}

test("an action that never succeeded runs", async (t) => {
  const { action, reasons } = await decide(home(t), smallPlan({ name: "stage" }));
  assert.deepEqual([action, reasons], ["run", [{ kind: "first-run" }]]);
});

test("a cached action is reused with its outputs", async (t) => {
  const at = home(t);
  const plan = smallPlan({ name: "stage" });
  const { key, parts } = await boundOf(at, plan);
  const { actions, store } = at.open();
  const outputs = { out: { kind: "file" as const, digest: store.putText("content") } };
  const ran = { ...exampleRecord.ran, stage: "stage" };
  actions.put({ formatVersion: 1, key, parts, codeFiles: store.putText("{}"), outputs, ran });
  const decision = await decide(at, plan);
  assert.ok(decision.action === "reuse");
  assert.deepEqual(decision.cached.outputs, outputs);
  assert.deepEqual(decision.reasons, [{ kind: "unchanged" }]);
});

test("a decision to run is entered before any other decision is made", async (t) => {
  const at = home(t);
  const twin = { name: "twin", axes: { seed: 1 }, keyed: [] };
  const plan = smallPlan(twin, { ...twin, axes: { seed: 2 } });
  const context: DecideContext = {
    ...{ plan, workspace: at.open(), results: [], runners: new Map() },
    stale: { kind: "leave" },
  };
  const [one, other] = plan.instances;
  const [first, second] = await Promise.all([decideInstance(one!, context), decideInstance(other!, context)]);
  assert.equal(first.action, "run");
  assert.ok(second.action === "same");
  assert.equal(second.runner, 0);
  assert.deepEqual(second.reasons, [{ kind: "same-action", stage: "twin[seed=1]" }]);
});

test("a stale attempt is left where the policy is to leave it", async (t) => {
  const { at, plan, digest } = await staleAttempt(t);
  const { action, reasons } = await decide(at, plan);
  const changed = [{ kind: "params-changed", names: ["added"] }];
  assert.deepEqual([action, reasons], ["leave", [{ kind: "stale", record: digest, changed }]]);
});

test("an accepted stale attempt is reused with a note", async (t) => {
  const { at, plan, digest } = await staleAttempt(t);
  const decision = await decide(at, plan, { stale: { kind: "accept", why: "a typo" } });
  assert.ok(decision.action === "reuse");
  assert.equal(decision.note, "stale, accepted: a typo");
  assert.equal(decision.cached.record?.digest, digest);
});

/** A stale attempt that was made here, and an imported record that fits the plan. */
async function contested(t: TestContext) {
  const { at, plan, digest: held } = await staleAttempt(t);
  const { key, parts } = await boundOf(at, plan);
  const slot = { pipeline: "small", profile: "smoke", stage: "attempt" };
  const ran = { ...exampleRecord.ran, startedAt: "2026-02-01T00:00:00.000Z" };
  const { attempts, state } = at.open();
  const imported = attempts.put(
    { ...exampleRecord, slot, attemptKey: key, parts, ran },
    join(at.root, "no log"),
  );
  const origin = { archive: "a".repeat(64), signedBy: null, signingKey: null };
  writeOrigin(state.attempts, imported, { formatVersion: 1, importedAt: "", ...origin });
  return { at, plan, held, imported };
}

test("an attempt whose records compete neither runs nor is reused, also with --rerun, and costs nothing", async (t) => {
  const { at, plan, imported } = await contested(t);
  for (const stale of [{ kind: "leave" }, { kind: "rerun" }] as const) {
    const decision = await decide(at, plan, { stale });
    assert.ok(decision.action === "fail", decision.action);
    assert.equal(decision.outcome.cause, "operator");
    assert.deepEqual(decision.reasons, [{ kind: "undecided", records: [imported] }]);
    const { previews } = await previewPlan(plan, [0], { workspace: at.open(), stale });
    assert.equal(previews[0]!.cost, undefined);
  }
});

test("a stale attempt with another network is another condition, and is never accepted", async (t) => {
  const { at, plan } = await staleAttempt(t);
  for (const network of ["full", "hub"] as const) {
    const instances = plan.instances.map((one) => ({ ...one, execution: { ...one.execution, network } }));
    const sealed = { ...plan, instances };
    const { action, reasons } = await decide(at, sealed, { stale: { kind: "accept", why: "a typo" } });
    assert.equal(action, "leave");
    assert.ok(
      reasons.some(
        (one) => one.kind === "stale" && one.changed.some(({ kind }) => kind === "network-changed"),
      ),
    );
  }
});

test("--accept-stale uses the stale attempt that was made here, and not the imported one that fits the plan", async (t) => {
  const { at, plan, held, imported } = await contested(t);
  const decision = await decide(at, plan, { stale: { kind: "accept", why: "a typo" } });
  assert.ok(decision.action === "reuse");
  assert.equal(decision.cached.record?.digest, held);
  assert.deepEqual(decision.reasons[1], { kind: "undecided", records: [imported] });
});

test("a chosen imported record is reused with its origin", async (t) => {
  const { at, plan, held, imported } = await contested(t);
  at.open().attempts.choose(imported, [held], "now");
  const decision = await decide(at, plan);
  assert.ok(decision.action === "reuse");
  assert.equal(decision.cached.record?.digest, imported);
  assert.deepEqual(decision.reasons, [{ kind: "unchanged" }, { kind: "imported", signedBy: null }]);
});

test("a stale attempt runs where the policy is to rerun it", async (t) => {
  const { at, plan } = await staleAttempt(t);
  const decision = await decide(at, plan, { stale: { kind: "rerun" } });
  assert.ok(decision.action === "run");
  assert.equal(decision.stale, true);
  assert.equal(decision.reasons[0]?.kind, "stale");
});

test("an instance whose script cannot be read fails with the reason", async (t) => {
  const plan = smallPlan({ name: "stage", action: { run: { kind: "script", file: "gone.ts" } } });
  const decision = await decide(home(t), plan);
  assert.ok(decision.action === "fail");
  assert.match(decision.outcome.detail, /gone\.ts/);
  assert.equal(decision.reasons[0]?.kind, "cannot-start");
});

test("a plan counts the cost of two equal stale attempts once", async (t) => {
  const at = home(t);
  const twin = (copy: number, more: Partial<SmallStage> = {}): SmallStage => ({
    ...attempt,
    axes: { copy },
    keyed: [],
    ...more,
  });
  const before = smallPlan(twin(1), twin(2));
  const { key, parts } = await boundOf(at, before);
  for (const { id } of before.instances) {
    const slot = { pipeline: "small", profile: "smoke", stage: id };
    at.open().attempts.put({ ...exampleRecord, slot, attemptKey: key, parts }, join(at.root, "no log"));
  }
  const now = smallPlan(...[1, 2].map((copy) => twin(copy, { action: { params: { added: 1 } } })));
  const { previews } = await previewPlan(now, [0, 1], { workspace: at.open(), stale: { kind: "rerun" } });
  assert.deepEqual(
    previews.map(({ action, cost }) => [action, cost !== undefined]),
    [
      ["stale", true],
      ["reuse", false],
    ],
  );
});

test("an attempt whose running twin has a damaged card does not start", async (t) => {
  const at = home(t);
  const plan = smallPlan(attempt);
  const { key, parts } = await boundOf(at, plan);
  const { path } = makeAttemptFolder(at.open().state.running, { ...exampleCard, key, parts });
  writeFileSync(join(path, "attempt.json"), JSON.stringify({ ...exampleCard, key, gpus: "two" }));
  const decision = await decide(at, plan);
  assert.ok(decision.action === "fail");
  assert.equal(decision.outcome.cause, "machine");
  assert.match(decision.outcome.detail, /gpus is "two", not .*; put the original file back/);
});

/** A recorded attempt whose weights are thinned, a score that was made of them, and the plan with another scorer. */
async function thinnedAttempt(t: TestContext) {
  const at = home(t);
  const stages = (version: number): SmallStage[] => [
    { ...attempt, gives: { submission: "dir" } },
    { name: "score", needs: { submission: "attempt.submission" }, action: { params: { version } } },
  ];
  const plan = smallPlan(...stages(1));
  const { attempts, store, state, actions, last } = at.open();
  mkdirSync(join(at.root, "made"));
  writeFileSync(join(at.root, "made/model.safetensors"), "weights");
  const submission = store.put(join(at.root, "made"), "dir");
  const { key, parts } = await boundOf(at, plan);
  const slot = { pipeline: "small", profile: "smoke", stage: "attempt" };
  const outputs = { submission: { ...submission, file: "submission" } };
  const record = { ...exampleRecord, slot, attemptKey: key, parts, outputs };
  const digest = attempts.put(record, join(at.root, "no log"));
  const results = [reusedResult({ outputs: { submission }, durationMs: 1, record: { digest, record } })];
  const bound = await bind(plan.instances[1]!, { plan, results, workspace: at.open() });
  const score = { out: { kind: "file" as const, digest: store.putText("0.5") } };
  const ran = { ...exampleRecord.ran, stage: "score" };
  const action = { key: bound.key, parts: bound.parts, codeFiles: store.putText("{}"), outputs: score, ran };
  actions.put({ formatVersion: 1, ...action });
  last.put({ id: "score", key: bound.key, durationMs: 1 });
  const workspace = { state, store, attempts, actions };
  thinRecords([{ digest, record, outputs: ["submission"], why: "a test" }], workspace, { now: new Date(0) });
  const decideOn = (version: number, stale: StalePolicy) => {
    const now = smallPlan(...stages(version));
    return Promise.all(
      now.instances.map((instance) =>
        decideInstance(instance, { plan: now, workspace: at.open(), results, stale, runners: new Map() }),
      ),
    );
  };
  return { at, digest, score, decideOn, changed: smallPlan(...stages(2)) };
}

test("a thinned attempt and the scores that were made of it are reused", async (t) => {
  const { decideOn } = await thinnedAttempt(t);
  for (const kind of ["leave", "rerun"] as const)
    assert.deepEqual(
      (await decideOn(1, { kind })).map(({ action }) => action),
      ["reuse", "reuse"],
    );
});

test("a changed scorer of a thinned attempt is left with that reason, also with --rerun, and the attempt is reused", async (t) => {
  const { at, digest, decideOn, changed } = await thinnedAttempt(t);
  for (const kind of ["leave", "rerun"] as const) {
    const [attempted, scored] = await decideOn(2, { kind });
    assert.equal(attempted?.action, "reuse");
    assert.ok(scored?.action === "leave");
    assert.deepEqual(scored.reasons, [{ kind: "thinned", record: digest, input: "submission" }]);
    assert.equal(
      outcomeCause(scored.outcome),
      `needs weights of attempt ${digest.slice(0, 12)}, which were removed (thinned)`,
    );
  }
  const { previews } = await previewPlan(changed, [0, 1], { workspace: at.open(), stale: { kind: "rerun" } });
  assert.deepEqual(
    previews.map(({ action, onStale, cost }) => [action, onStale, cost]),
    [
      ["reuse", undefined, undefined],
      ["stale", "leave", undefined],
    ],
  );
});

test("--accept-stale uses the earlier score of a thinned attempt with a note", async (t) => {
  const { score, decideOn } = await thinnedAttempt(t);
  const [, scored] = await decideOn(2, { kind: "accept", why: "a typo in a message" });
  assert.ok(scored?.action === "reuse");
  assert.deepEqual(scored.cached.outputs, score);
  assert.equal(scored.note, "thinned, its earlier result accepted: a typo in a message");
});
