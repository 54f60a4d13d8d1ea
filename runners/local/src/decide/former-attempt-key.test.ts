import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { actionKey } from "@mlrb/core/key/action-key";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { KeyParts } from "@mlrb/formats/stage/action";
import type { Workspace } from "../store/workspace.ts";
import { exampleCard, exampleEnd, exampleParts } from "../testing/example-record.ts";
import { heldUnder, keyedBeforeNetwork } from "./former-attempt-key.ts";

const former: KeyParts = {
  keyFormat: 1,
  run: { kind: "script", file: "" },
  code: {},
  files: {},
  params: { kind: "nop", added: null },
  axes: {},
  inputs: {},
  outputs: {},
  env: {},
  budget: {},
  environment: null,
  host: null,
};
const parts: KeyParts = { ...former, keyFormat: 2, params: { kind: "nop" } };
const now = { key: actionKey(parts), parts };

function found(t: TestContext, held: { running?: string; records?: string[]; inSlot?: KeyParts }) {
  const running = mkdtempSync(join(tmpdir(), "mlrb-former-"));
  t.after(() => rmSync(running, { recursive: true }));
  if (held.running !== undefined) {
    const folder = join(running, "one");
    mkdirSync(folder);
    const card = { ...exampleCard, key: held.running, parts: { ...exampleParts, keyFormat: 1 } };
    writeFileSync(join(folder, "attempt.json"), JSON.stringify(card));
    writeFileSync(join(folder, "end.json"), JSON.stringify(exampleEnd));
  }
  const attempts = {
    has: (key: string) => held.records?.includes(key) ?? false,
    hasSlot: () => held.inSlot !== undefined,
    inSlot: () => held.inSlot && { record: { attemptKey: "as recorded", parts: held.inSlot } },
  };
  const workspace = { attempts, state: { running } } as unknown as Workspace;
  return heldUnder(now, former, { instance: {} as Instance, plan: {} as Plan, workspace });
}

test("a running attempt of format 1 is found under its own key, so an upgrade does not restart it", (t) => {
  const key = actionKey(former);
  assert.deepEqual(found(t, { running: key }), { key, parts: former });
});

test("a record under today's key takes precedence over a record of format 1", (t) => {
  assert.deepEqual(found(t, { records: [now.key, actionKey(former)] }), now);
  assert.equal(found(t, { records: [actionKey(former)] }).key, actionKey(former));
});

test("the slot's record is used only if the one difference is an added parameter that is not set", (t) => {
  const recorded = { ...former, params: { kind: "nop" } };
  assert.equal(found(t, { inSlot: recorded }).key, "as recorded");
  assert.deepEqual(found(t, { inSlot: { ...recorded, params: { kind: "llm" } } }), now);
  assert.deepEqual(found(t, { inSlot: { ...recorded, keyFormat: 2 } }), now, "format 2 kept all of it");
});

/** The key that an attempt is found under if the one held was made with this harness and has no network in its key. */
function foundOpen(t: TestContext, network: "full" | "hub", made: { record?: string[]; running?: string[] }) {
  const running = mkdtempSync(join(tmpdir(), "mlrb-former-"));
  t.after(() => rmSync(running, { recursive: true }));
  const harness = (files: string[]) => Object.fromEntries(files.map((file) => [file, "0"]));
  if (made.running) {
    mkdirSync(join(running, "one"));
    const card = { ...exampleCard, key: now.key, parts, harness: harness(made.running) };
    writeFileSync(join(running, "one/attempt.json"), JSON.stringify(card));
    writeFileSync(join(running, "one/end.json"), JSON.stringify(exampleEnd));
  }
  const isRecord = (key: string) => made.record !== undefined && key === now.key;
  const attempts = {
    has: isRecord,
    find: (key: string) =>
      isRecord(key) ? { record: { parts, harness: harness(made.record!) } } : undefined,
    inSlot: () => undefined,
  };
  const workspace = { attempts, state: { running } } as unknown as Workspace;
  const reached = { ...parts, network };
  const at = { key: actionKey(reached), parts: reached };
  const { key } = heldUnder(at, former, { instance: {} as Instance, plan: {} as Plan, workspace });
  return key === at.key ? "own" : key === now.key ? "before" : key;
}

const beforeNetwork = ["pipelines/steps/attempt.ts", "runners/agents/src/attempt/run-attempt.ts"];
const today = [...beforeNetwork, "runners/agents/src/hub/download-gateway.ts"];

test("an attempt with a full network is found under its key from before keys had the network", (t) => {
  assert.equal(foundOpen(t, "full", { record: beforeNetwork }), "before");
  assert.equal(foundOpen(t, "full", { running: beforeNetwork }), "before");
});

test("an attempt that was made without a network is none with a full one, nor is one of unknown origin", (t) => {
  assert.equal(foundOpen(t, "full", { record: today }), "own");
  assert.equal(foundOpen(t, "full", { running: today }), "own");
  assert.equal(foundOpen(t, "full", { record: [] }), "own");
});

test("a sealed attempt is never found under a key without the network", (t) => {
  assert.equal(foundOpen(t, "hub", { record: beforeNetwork }), "own");
  assert.equal(foundOpen(t, "hub", { running: beforeNetwork }), "own");
  const harness = Object.fromEntries(beforeNetwork.map((file) => [file, "0"]));
  assert.equal(keyedBeforeNetwork({ harness, parts: { ...parts, network: "hub" } }), false);
});
