import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { environmentStage, type Plan } from "@mlrb/core/plan/plan";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { KeyParts } from "@mlrb/formats/stage/action";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { canonicalJson } from "@mlrb/kit/json-file";
import { thisProcess } from "../leases/owner.ts";
import { environmentPython } from "../process/environments.ts";
import { home, type SmallStage, smallPlan, withoutPython } from "../testing/small-plan.ts";
import { type Bound, bind } from "./bind-inputs.ts";
import { type CachedAction, findCachedAction } from "./find-cached-action.ts";
import { reasonsToRun, staleReason } from "./run-reasons.ts";

type Lab = ReturnType<typeof lab>;

/** A repository with its state, and helpers that write what a search may find. */
function lab(t: TestContext) {
  const at = home(t);
  const { state } = at.open();
  let keeps = 0;
  return {
    ...at,
    state,
    /** Puts an output into the store. */
    put(text: string): Artifact {
      return { kind: "file", digest: at.open().store.putText(text) };
    },
    /** Records a successful action. */
    done(bound: Bound, outputs: Record<string, Artifact>, codeFiles = bound.codeFiles): void {
      const { actions, store } = at.open();
      actions.put({
        formatVersion: 1,
        key: bound.key,
        parts: bound.parts,
        codeFiles: store.putText(canonicalJson(codeFiles)),
        outputs,
        ran: { ...ran, stage: "any" },
      });
    },
    succeeded(id: string, key: string): void {
      at.open().last.put({ id, key, durationMs: 5 });
    },
    /** Writes the record of an attempt; `stage` names its slot. */
    record(
      stage: string,
      bound: Pick<Bound, "key" | "parts">,
      outputs: Record<string, Artifact> = {},
    ): string {
      const { attempts } = at.open();
      return attempts.put(
        {
          formatVersion: 1,
          slot: { pipeline: "small", profile: "smoke", stage },
          axes: {},
          attemptKey: bound.key,
          parts: bound.parts,
          given: [],
          outputs: Object.fromEntries(
            Object.entries(outputs).map(([name, one]) => [name, { ...one, file: name }]),
          ),
          harness: {},
          cost: { gpuHours: 24, dollars: 43 },
          ran: { ...ran, startedAt: `2026-01-0${++keeps}T00:00:00Z` },
        } satisfies AttemptRecord,
        join(at.root, "no log"),
      );
    },
    /** Writes an attempt's folder: running, or lost with a cause. */
    attempt(folder: string, bound: Bound, { stage = "attempt", ...more }: Attempted): void {
      const path = join(folder, `one-${++keeps}`);
      mkdirSync(join(path, "out"), { recursive: true });
      const card = {
        formatVersion: 1,
        run: "r",
        by: { ...thisProcess(), started: "1" },
        startedAt: more.startedAt ?? "2026-01-01T00:00:00Z",
        slot: { pipeline: "small", profile: "smoke", stage },
        axes: {},
        key: bound.key,
        parts: bound.parts,
        given: [],
        gives: [],
        harness: {},
        gpus: 0,
        secrets: [],
        executor: "local",
      };
      writeFileSync(join(path, "attempt.json"), JSON.stringify(card));
      if (more.supervisor) writeFileSync(join(path, "supervisor.json"), JSON.stringify(more.supervisor));
      if (!more.cause) return;
      const cause = { kind: "stopped", detail: more.cause };
      const left = {
        formatVersion: 1,
        cause,
        durationMs: 1,
        cost: { gpuHours: 1, dollars: 2 },
        spending: null,
      };
      writeFileSync(join(path, "cause.json"), JSON.stringify(left));
    },
    lost: join(state.attempts, "lost"),
  };
}

type Attempted = { stage?: string; startedAt?: string; supervisor?: object; cause?: string };

const ran = { run: "r", startedAt: "2026-01-01T00:00:00Z", durationMs: 7, executor: "local", host: "h" };

type Case = { plan: Plan; bound: Bound };

async function caseOf(at: Lab, stage: SmallStage): Promise<Case> {
  const plan = smallPlan(stage);
  return { plan, bound: await bind(plan.instances[0]!, { plan, results: [], workspace: at.open() }) };
}

/** Searches a workspace as a new process opens it. */
const found = (at: Lab, { plan, bound }: Case) =>
  findCachedAction(plan.instances[0]!, bound, { plan, workspace: at.open() });

/** The cached action that a search finds; fails where it finds none. */
function cachedIn(at: Lab, one: Case): CachedAction {
  const search = found(at, one);
  assert.ok(search.kind === "found");
  return search.cached;
}

const none = { kind: "none" } as const;

const reasons = (at: Lab, { plan, bound }: Case) =>
  reasonsToRun(plan.instances[0]!, bound, { plan, found: none, workspace: at.open() });

const stage: SmallStage = { name: "stage" };
const attempt: SmallStage = { name: "attempt", durable: true };
const otherParams = (one: SmallStage): SmallStage => ({ ...one, action: { params: { added: 1 } } });

/** Overwrites a content in place, keeping its length. */
function damage(at: Lab, { digest }: Artifact): void {
  const path = at.open().store.pathOf(digest);
  chmodSync(path, 0o644);
  writeFileSync(path, "DAMAGED".padEnd(at.open().store.textOf(digest).length, "!"));
}

test("an action that never ran is a first run", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, stage);
  assert.deepEqual(found(at, one), none);
  assert.deepEqual(reasons(at, one), [{ kind: "first-run" }]);
});

test("an equal action returns its earlier outputs and duration", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, stage);
  const outputs = { out: at.put("content") };
  at.done(one.bound, outputs);
  assert.deepEqual(cachedIn(at, one), { outputs, durationMs: 7 });
  const other = await caseOf(at, otherParams(stage));
  assert.deepEqual(found(at, other), none);
});

test("an action is not reused when one of its outputs is missing from the store", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, stage);
  const [kept, gone] = [at.put("kept"), at.put("gone")];
  at.done(one.bound, { kept, gone });
  rmSync(at.open().store.pathOf(gone.digest));
  assert.equal(found(at, one).kind, "output-missing");
});

test("an action is not reused when the tree of an output folder is damaged", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, stage);
  at.write("given/file", "content");
  const folder = at.open().store.put(join(at.root, "given"), "dir");
  at.done(one.bound, { out: folder });
  assert.equal(found(at, one).kind, "found");
  damage(at, folder);
  assert.equal(found(at, one).kind, "output-missing");
});

test("only published outputs are read in full before reuse", async (t) => {
  for (const publishes of [true, false]) {
    const at = lab(t);
    const one = await caseOf(at, { ...stage, publishes });
    const out = at.put("a table of numbers");
    at.done(one.bound, { out });
    assert.equal(found(at, one).kind, "found");
    damage(at, out);
    assert.equal(found(at, one).kind === "output-missing", publishes);
  }
});

const lock = { action: { params: { lock: "ml.lock" } } };

test("a half-built environment is not reused", async (t) => {
  const at = lab(t);
  withoutPython(at);
  at.write("ml.lock", "");
  const one = await caseOf(at, { name: environmentStage, gives: {}, ...lock });
  assert.deepEqual(reasons(at, one), [{ kind: "environment-missing" }]);
  const python = environmentPython(one.bound.environment!.path);
  mkdirSync(join(python, ".."), { recursive: true });
  writeFileSync(python, "");
  assert.deepEqual(found(at, one), none, "a kill has ended its build");
  writeFileSync(join(one.bound.environment!.path, "ready.json"), "{}");
  assert.deepEqual(cachedIn(at, one), { outputs: {}, durationMs: 0 });
});

test("an attempt is found by its key", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, attempt);
  const out = at.put("submission");
  const digest = at.record("attempt", one.bound, { out });
  const { outputs, durationMs, record } = cachedIn(at, one);
  assert.deepEqual([outputs, durationMs, record?.digest], [{ out }, 7, digest]);
});

test("an attempt with the same key in another slot is reused", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, attempt);
  at.record("attempt[seed=9]", one.bound);
  assert.equal(found(at, one).kind, "found");
});

test("reusing an attempt after the cache was deleted restores its outputs to the store", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, attempt);
  const out = at.put("submission");
  at.record("attempt", one.bound, { out });
  rmSync(join(at.state.state, "cache"), { recursive: true });
  assert.equal(found(at, one).kind, "found");
  assert.equal(at.open().store.textOf(out.digest), "submission");
});

test("an attempt whose parameters changed since its record is stale", async (t) => {
  const at = lab(t);
  const before = await caseOf(at, attempt);
  const digest = at.record("attempt", before.bound);
  const now = await caseOf(at, otherParams(attempt));
  const stale = found(at, now);
  assert.ok(stale.kind === "stale");
  assert.equal(stale.held.digest, digest);
  assert.deepEqual(staleReason(now.plan.instances[0]!, now.bound, { ...stale, plan: now.plan }).changed, [
    { kind: "params-changed", names: ["added"] },
  ]);
});

test("a record of another slot makes no attempt stale", async (t) => {
  const at = lab(t);
  const before = await caseOf(at, attempt);
  at.record("attempt[seed=9]", before.bound);
  assert.deepEqual(found(at, await caseOf(at, otherParams(attempt))), none);
});

test("a running attempt is not stale, even if its slot has an older record", async (t) => {
  const at = lab(t);
  const before = await caseOf(at, attempt);
  at.record("attempt", before.bound);
  const now = await caseOf(at, otherParams(attempt));
  at.attempt(at.state.running, now.bound, { supervisor: thisProcess(), startedAt: "2026-02-03T00:00:00Z" });
  assert.deepEqual(found(at, now), none);
  assert.deepEqual(reasons(at, now), [{ kind: "goes-on", since: "2026-02-03T00:00:00Z" }]);
});

test("a damaged record of an unknown attempt stops every new attempt", async (t) => {
  const at = lab(t);
  const other = await caseOf(at, otherParams(attempt));
  const digest = at.record("other", other.bound);
  writeFileSync(join(at.state.attempts, "records", digest, "record.json"), "torn");
  rmSync(join(at.state.attempts, "index.jsonl"));
  const one = await caseOf(at, attempt);
  assert.throws(
    () => found(at, one),
    /it no longer shows which attempt it belongs to, so it may be this one/,
  );
});

test("a damaged record of the same attempt is an error, not a miss", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, attempt);
  const digest = at.record("attempt", one.bound);
  chmodSync(join(at.state.attempts, "records", digest, "record.json"), 0o644);
  writeFileSync(join(at.state.attempts, "records", digest, "record.json"), "torn");
  assert.throws(() => found(at, one), /its record\.json was changed; put the original back/);
});

test("the reason to run an attempt names the lost attempt with its key or slot", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, attempt);
  at.attempt(at.lost, one.bound, { cause: "by hand", startedAt: "2026-02-03T00:00:00Z" });
  const [reason] = reasons(at, one);
  assert.ok(reason?.kind === "lost");
  assert.deepEqual([reason.since, reason.cause], ["2026-02-03T00:00:00Z", "stopped: by hand"]);
  assert.deepEqual(reasons(at, await caseOf(at, otherParams(attempt)))[0]?.kind, "lost", "by its place");
});

test("a lost attempt is no reason to run a stage that is not an attempt", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, stage);
  at.attempt(at.lost, one.bound, { cause: "by hand", stage: "stage" });
  assert.deepEqual(reasons(at, one), [{ kind: "first-run" }]);
});

test("the reason to rerun a stale attempt names a lost attempt of the same key only", async (t) => {
  const at = lab(t);
  const [before, now] = [await caseOf(at, attempt), await caseOf(at, otherParams(attempt))];
  at.record("attempt", before.bound);
  const kinds = () => {
    const workspace = at.open();
    const search = found(at, now);
    assert.ok(search.kind === "stale");
    const context = { plan: now.plan, workspace, found: search };
    return reasonsToRun(now.plan.instances[0]!, now.bound, context).map(({ kind }) => kind);
  };
  at.attempt(at.lost, before.bound, { cause: "by hand" });
  assert.deepEqual(kinds(), ["stale"]);
  at.attempt(at.lost, now.bound, { cause: "once more" });
  assert.deepEqual(kinds(), ["stale", "lost"]);
});

test("a stage whose last success is gone from the action cache runs for its missing output", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, stage);
  at.succeeded("stage", "0".repeat(64));
  assert.deepEqual(reasons(at, one), [{ kind: "output-missing" }]);
});

test("a stage that runs although nothing changed has the reason never-succeeded", async (t) => {
  const at = lab(t);
  const one = await caseOf(at, stage);
  at.done(one.bound, { out: at.put("content") });
  at.succeeded("stage", one.bound.key);
  assert.deepEqual(reasons(at, one), [{ kind: "never-succeeded" }]);
});

test("the reason to run again names the changed parameters", async (t) => {
  const at = lab(t);
  const before = await caseOf(at, stage);
  at.done(before.bound, {});
  at.succeeded("stage", before.bound.key);
  const now = await caseOf(at, otherParams(stage));
  assert.deepEqual(reasons(at, now), [{ kind: "params-changed", names: ["added"] }]);
});

test("an attempt is compared with the record of its last success", async (t) => {
  const at = lab(t);
  const before = await caseOf(at, attempt);
  at.record("elsewhere", before.bound);
  at.succeeded("attempt", before.bound.key);
  const now = await caseOf(at, otherParams(attempt));
  assert.deepEqual(reasons(at, now), [{ kind: "params-changed", names: ["added"] }]);
});

test("a changed input is named with the stage that produces it", async (t) => {
  const at = lab(t);
  const plan = smallPlan({ name: "data" }, { name: "score", needs: { private: "data.out" } });
  const ask = (digest: string) =>
    bind(plan.instances[1]!, {
      plan,
      workspace: at.open(),
      results: [{ outcome: { kind: "succeeded" }, outputs: { out: { kind: "file", digest } } }],
    });
  const before = await ask("a".repeat(64));
  at.done(before, {});
  at.succeeded("score", before.key);
  const now = await ask("b".repeat(64));
  const reasons = reasonsToRun(plan.instances[1]!, now, { plan, workspace: at.open(), found: none });
  assert.deepEqual(reasons, [{ kind: "input-changed", input: "private", stage: "data" }]);
});

const codeOf = (digest: string, packages?: string) => ({ "say.ts": digest, ...(packages && { packages }) });

/** The same case with another key and other code. */
function withCode(
  { plan, bound }: Case,
  key: string,
  code: KeyParts["code"],
  codeFiles: Bound["codeFiles"],
): Case {
  return { plan, bound: { ...bound, key, parts: { ...bound.parts, code }, codeFiles } };
}

async function scriptCase(at: Lab): Promise<Case> {
  const { bound } = await caseOf(at, { name: "say" }); // withCode sets its code
  return { plan: smallPlan({ name: "say", action: { run: { kind: "script", file: "say.ts" } } }), bound };
}

test("a changed script is reported as its changed, new and removed files, sorted", async (t) => {
  const at = lab(t);
  const one = await scriptCase(at);
  const before = withCode(one, "a".repeat(64), codeOf("1"), { "say.ts": "1", "b.ts": "1", "gone.ts": "1" });
  at.done(before.bound, {});
  at.succeeded("say", before.bound.key);
  const now = withCode(one, "b".repeat(64), codeOf("2"), { "say.ts": "1", "b.ts": "2", "a.ts": "1" });
  assert.deepEqual(
    reasons(at, now),
    ["a.ts", "b.ts", "gone.ts"].map((file) => ({ kind: "code-changed", file })),
  );
});

test("a changed script whose files are all unchanged is reported by its own name", async (t) => {
  const at = lab(t);
  const one = await scriptCase(at);
  const before = withCode(one, "a".repeat(64), codeOf("1"), { "say.ts": "1" });
  at.done(before.bound, {});
  at.succeeded("say", before.bound.key);
  const now = withCode(one, "b".repeat(64), codeOf("2"), { "say.ts": "1" });
  assert.deepEqual(reasons(at, now), [{ kind: "code-changed", file: "say.ts" }]);
});

test("changed packages are reported in addition to changed files", async (t) => {
  const at = lab(t);
  const one = await scriptCase(at);
  const before = withCode(one, "a".repeat(64), codeOf("1", "p1"), { "say.ts": "1", "b.ts": "1" });
  at.done(before.bound, {});
  at.succeeded("say", before.bound.key);
  const now = withCode(one, "b".repeat(64), codeOf("2", "p2"), { "say.ts": "1", "b.ts": "2" });
  assert.deepEqual(reasons(at, now), [
    { kind: "code-changed", file: "packages" },
    { kind: "code-changed", file: "b.ts" },
  ]);
});

test("a changed script is reported by its own name when its file digests are lost", async (t) => {
  const at = lab(t);
  const one = await scriptCase(at);
  const before = withCode(one, "a".repeat(64), codeOf("1"), { "say.ts": "1", "b.ts": "1" });
  at.done(before.bound, {});
  at.succeeded("say", before.bound.key);
  const { actions, store } = at.open();
  rmSync(store.pathOf(actions.get(before.bound.key)!.codeFiles));
  const now = withCode(one, "b".repeat(64), codeOf("2"), { "say.ts": "1", "b.ts": "2" });
  assert.deepEqual(reasons(at, now), [{ kind: "code-changed", file: "say.ts" }]);
});
