import assert from "node:assert/strict";
import { test } from "node:test";
import { ResearchReader } from "./attempt-iterations.ts";

type Call = { id?: string; name?: string; input?: string; by?: string };

/** The digest of the tool calls of a trajectory; events follow each other by a second. */
function actions(calls: Call[], others: Record<string, unknown>[] = []): string | null | undefined {
  const reader = new ResearchReader();
  const events = [...calls.map((call) => ({ event: "tool-call", ...whole(call) })), ...others];
  for (const [index, event] of events.entries())
    reader.take({ index, sinceStartMs: 1000 * index, time: "2026-01-01T00:00:00.000Z", ...event });
  const found = reader.end();
  return found.kind === "found" ? found.actions : undefined;
}

function whole(call: Call) {
  return { by: "agent", id: "a", name: "bash", input: '{"command":"ls"}', ...call };
}

test("the same tool calls have the same digest, whatever their ids and the events around them", () => {
  const calls = [{ id: "x" }, { id: "y", input: '{"command":"train"}' }];
  const again = [{ id: "p" }, { id: "q", input: '{"command":"train"}' }];
  assert.match(actions(calls)!, /^[0-9a-f]{64}$/);
  assert.equal(actions(calls), actions(again, [{ event: "output", stream: "stdout", text: "slow" }]));
});

test("another input, tool, conversation or order is another sequence", () => {
  const base = [{ input: "1" }, { input: "2" }];
  const others = [
    [{ input: "1" }, { input: "3" }],
    [{ input: "1" }, { input: "2", name: "write" }],
    [{ input: "1" }, { input: "2", by: "worker-1" }],
    [{ input: "2" }, { input: "1" }],
    [{ input: "1" }],
  ];
  const digests = [base, ...others].map((calls) => actions(calls));
  assert.equal(new Set(digests).size, digests.length);
});

test("a trajectory without tool calls has no sequence, because what its program did is unknown", () => {
  assert.equal(actions([], [{ event: "exec", argv: ["node", "agent.js"] }]), null);
});
