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
import { heldUnder } from "./former-attempt-key.ts";

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
