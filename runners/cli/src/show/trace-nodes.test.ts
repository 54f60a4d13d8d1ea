import assert from "node:assert/strict";
import { test } from "node:test";
import { type NodePlace, nodeOf, reusedKeys } from "./trace-nodes.ts";

test("a stage is traced to what a run of the plan would reuse, not to a later success under the same name", () => {
  const entry = (code: string) => ({
    parts: { inputs: {}, run: { kind: "command", code } },
    outputs: {},
    ran: {},
  });
  const actions = new Map([
    ["whole", entry("whole")],
    ["narrowed", entry("narrowed")],
  ]);
  const instance = { index: 3, id: "report", stage: { durable: false }, inputs: [] };
  const last = new Map([["report", { id: "report", key: "narrowed", durationMs: 1 }]]);
  const workspace = { actions, last, state: { logs: "logs" } };
  const place = { plan: { instances: [] }, workspace } as unknown as NodePlace;
  const keyOf = (at: NodePlace) => {
    const node = nodeOf(instance as never, at);
    return typeof node === "string" ? node : node.key;
  };
  const reused = reusedKeys([{ index: 2 }, { index: 3, key: "whole" }]);
  assert.equal(keyOf({ ...place, reused }), "whole");
  assert.equal(keyOf({ ...place, reused: reusedKeys([{ index: 3 }]) }), "narrowed");
});
