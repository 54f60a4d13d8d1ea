import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Network } from "@mlrb/formats/declared/pipeline";
import type { Member } from "@mlrb/formats/stage/collected";
import type { Result } from "../run/result.ts";
import { exampleParts, exampleRecord } from "../testing/example-record.ts";
import { home, smallPlan } from "../testing/small-plan.ts";
import { collectMembers } from "./collect-members.ts";

function planWith(network?: Network) {
  return smallPlan(
    {
      ...{ name: "attempt", durable: true, untrusted: true, gives: {} },
      ...{ action: { budget: { timeMs: 60_000 } }, execution: network ? { network } : {} },
    },
    { name: "score", needs: {} },
    { name: "report", collect: ["#attempt.out", "#score.out"] },
  );
}

/** The members of a report of which nothing is selected but itself, after an attempt with the network `made`. */
function lastKnown(t: TestContext, made: Network, planned: Network): Member {
  const at = home(t);
  writeFileSync(join(at.root, "log"), "");
  const workspace = at.open();
  const network = made === "none" ? {} : { network: made };
  const slot = { pipeline: "small", profile: "smoke", stage: "attempt" };
  const record = { ...exampleRecord, slot, parts: { ...exampleParts, ...network } };
  workspace.attempts.put(record, join(at.root, "log"));
  workspace.last.put({ id: "attempt", key: record.attemptKey, durationMs: 1 });
  const plan = planWith(planned);
  return collectMembers(plan.instances[2]!, { plan, workspace, results: [] }).members[0]!;
}

test("an attempt has its condition and its budget, and no other stage has them", (t) => {
  for (const [network, condition] of [
    ["full", "open"],
    ["hub", "sealed"],
    ["none", "no-network"],
    [undefined, "no-network"],
  ] as const) {
    const plan = planWith(network);
    const context = { plan, workspace: home(t).open(), results: [] };
    const [attempt, score] = collectMembers(plan.instances[2]!, context).members;
    assert.deepEqual([attempt!.condition, attempt!.budget], [condition, { timeMs: 60_000 }]);
    assert.deepEqual([score!.condition, score!.budget], [undefined, undefined]);
  }
});

test("the last attempt outside the selection is not collected if it was made in another condition", (t) => {
  for (const [made, planned] of [
    ["none", "full"],
    ["hub", "full"],
    ["full", "hub"],
    ["full", "none"],
  ] as const) {
    const { outcome, cause } = lastKnown(t, made, planned);
    assert.equal(outcome, "not-run", `${made}, ${planned}`);
    assert.match(cause, /its last attempt had another network: no mean holds attempts of two conditions/);
  }
  for (const same of ["full", "hub", "none"] as const)
    assert.equal(lastKnown(t, same, same).outcome, "succeeded", same);
});

test("what was made from another attempt than the one that is known now is not collected", (t) => {
  const at = home(t);
  writeFileSync(join(at.root, "log"), "");
  const workspace = at.open();
  const plan = smallPlan(
    { name: "attempt", durable: true, untrusted: true, gives: { submission: "dir" } },
    { name: "score", needs: { submission: "attempt.submission" } },
    { name: "report", collect: ["#score.out"] },
  );
  const digests = ["a", "b"].map((name) => workspace.store.putText(name));
  const outputs = { out: { kind: "file" as const, digest: digests[0]! } };
  const key = "a".repeat(64);
  const parts = { ...exampleParts, inputs: { submission: digests[0]! } };
  const ran = { ...exampleRecord.ran, stage: "score" };
  const codeFiles = workspace.store.putText("{}");
  workspace.actions.put({ formatVersion: 1, key, parts, codeFiles, outputs, ran });
  workspace.last.put({ id: "score", key, durationMs: 1 });
  const scoreAfter = (digest: string) => {
    const submission = { kind: "dir" as const, digest };
    const results: Result[] = [{ outcome: { kind: "succeeded" }, outputs: { submission } }];
    return collectMembers(plan.instances[2]!, { plan, workspace, results }).members[0]!;
  };
  assert.equal(scoreAfter(digests[0]!).outcome, "succeeded");
  const { outcome, cause } = scoreAfter(digests[1]!);
  assert.equal(outcome, "not-run");
  assert.match(cause, /made from other inputs/);
});

test("the order in which the members are planned does not change a manifest", (t) => {
  const workspace = home(t).open();
  const manifest = (seeds: number[]) => {
    const ids = seeds.map((seed) => `score[seed=${seed}]`);
    const plan = smallPlan(
      ...seeds.map((seed) => ({ name: "score", axes: { seed } })),
      { name: "report", collect: ids.map((id) => `${id}.out`) },
      { name: "attempt", durable: true, collect: ids.map((id) => `${id}.out`) },
    );
    const results: Result[] = seeds.map((seed) => ({
      outcome: { kind: "succeeded" },
      outputs: { out: { kind: "file", digest: workspace.store.putText(`seed ${seed}`) } },
    }));
    return plan.instances.slice(-2).map((one) => collectMembers(one, { plan, workspace, results }));
  };
  assert.deepEqual(manifest([10, 2, 1]), manifest([1, 2, 10]));
  assert.equal(manifest([2, 1])[0]!.members.length, 2);
});

test("collected files share a folder; folders, and files for an attempt, have the paths that are in earlier keys", (t) => {
  const workspace = home(t).open();
  const plan = smallPlan(
    { name: "make", gives: { text: "file", all: "dir" } },
    { name: "report", collect: ["make.text", "make.all"] },
    { name: "attempt", durable: true, collect: ["make.text"] },
  );
  const outputs = {
    text: { kind: "file" as const, digest: "a".repeat(64) },
    all: { kind: "dir" as const, digest: "b".repeat(64) },
  };
  const results: Result[] = [{ outcome: { kind: "succeeded" }, outputs }];
  const pathsOf = (index: number) =>
    collectMembers(plan.instances[index]!, { plan, workspace, results }).members.map(({ artifacts }) =>
      Object.values(artifacts).map(({ path }) => path),
    );
  assert.deepEqual(pathsOf(1), [["members/0000-text", "members/0000/all"]]);
  assert.deepEqual(pathsOf(2), [["members/0000/text"]]);
});
