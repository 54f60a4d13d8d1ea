import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { fakeSandbox } from "../testing/fake-sandbox.ts";
import { type Drive, type Script, type ScriptedAnswer, scripted } from "../testing/scripted-scaffold.ts";
import { mlrb2024 } from "./mlrb-2024.ts";
import type { AskResult, ScaffoldRequest } from "./scaffold.ts";

type More = Partial<ScaffoldRequest> & { drive?: Drive };

async function run(script: Script, more: More = {}) {
  const { request, seen, events } = scripted(script, fakeSandbox(), { spec: { kind: "mlrb-2024" }, ...more });
  return { end: await mlrb2024(request), seen, events };
}

const plan: ScriptedAnswer = { text: "1. Look. 2. Train." };
const noting = (text: string): ScriptedAnswer => ({ calls: [["note", { text }]] });
const submitting: ScriptedAnswer = { calls: [["submit", {}]] };
/** submission/ is empty in the sandbox of these tests, so submit must be called twice. */
const handIn = [submitting, submitting];
const userText = ({ messages }: { messages: { text: string }[] }) => messages[1]!.text;
const nudges = (events: TrajectoryEvent[]) =>
  events.flatMap((one) => (one.event === "message" && one.why === "nudge" ? [String(one.text)] : []));

test("the first call writes a plan without tools, and every later request holds the whole plan", async () => {
  const { end, seen } = await run([plan, ...handIn]);
  assert.deepEqual(end, { kind: "submitted" });
  assert.deepEqual(
    seen.map(({ by, tools }) => [by, tools.length > 0]),
    [
      ["planner", false],
      ["worker", true],
      ["worker", true],
    ],
  );
  for (const one of seen.slice(1)) assert.match(userText(one), /The plan:\n\n1\. Look\. 2\. Train\./);
});

test("the planner is asked where the preset names one, and the worker's model is not", async () => {
  const asked: string[] = [];
  const planner = { provider: "p", id: "planner", contextTokens: 9000 };
  const askPlanner = async (by: string): Promise<AskResult> => {
    asked.push(by);
    const response = {
      ...{ text: "A plan.", reasoning: null, toolCalls: [], usage: null, answeredBy: null },
    };
    return { kind: "answered", response: { ...response, finish: "stop" } };
  };
  const { seen } = await run(handIn, { askPlanner, spec: { kind: "mlrb-2024", planner } });
  assert.deepEqual([asked, seen.map(({ by }) => by)], [["planner"], ["worker", "worker"]]);
  assert.match(userText(seen[0]!), /A plan\./);
});

test("a request has the last ten actions and no earlier message", async () => {
  const actions = Array.from({ length: 12 }, (_, index) => ({
    calls: [["edit_file", { path: `f${index + 1}`, old: "a", new: "b" }] as [string, Record<string, string>]],
  }));
  const { seen } = await run([plan, ...actions, ...handIn]);
  for (const { messages } of seen) assert.equal(messages.length, 2);
  const shown = [...userText(seen.at(-2)!).matchAll(/^Action (\d+):$/gm)].map(([, number]) => Number(number));
  assert.deepEqual(
    shown,
    Array.from({ length: 10 }, (_, index) => index + 3),
  );
});

test("the minutes that are left are in every request, rounded down", async () => {
  const drive = { used: 0, leftMs: 119_999 };
  const { seen } = await run([plan, ...handIn], { drive });
  assert.match(userText(seen[1]!), /Minutes left: 1\n/);
});

test("notes are in every later request, not only in the action that wrote them", async () => {
  const many = Array.from({ length: 9 }, (): ScriptedAnswer => ({ calls: [["fly", {}]] }));
  const { seen } = await run([plan, noting("Division is hard."), ...many, ...handIn]);
  const last = userText(seen.at(-1)!);
  assert.match(last, /Your notes:\n1\. Division is hard\./);
});

test("of several calls in one answer the first is done, and the next request says so", async () => {
  const two: ScriptedAnswer = {
    calls: [
      ["note", { text: "first" }],
      ["note", { text: "second" }],
    ],
  };
  const { seen, events } = await run([plan, two, ...handIn]);
  assert.equal(events.filter(({ event }) => event === "note").length, 1);
  assert.match(userText(seen[2]!), /1 more call of this answer not done/);
});

test("three answers in a row without a call end the attempt, and a call in between does not count them", async () => {
  const silent: ScriptedAnswer = { text: "I think." };
  const { end, events } = await run([plan, silent, silent, noting("a"), silent, silent, silent]);
  assert.equal(end.kind, "stopped");
  assert.equal(nudges(events).length, 4);
  assert.equal((await run([plan, {}, {}, {}])).end.kind, "silent");
});

test("a second refusal in a row ends the attempt, of the planner and of the worker", async () => {
  const refusal: ScriptedAnswer = { text: "No.", finish: "refusal" };
  assert.deepEqual((await run([refusal, refusal])).end, { kind: "refused", detail: "No." });
  assert.deepEqual((await run([refusal, plan, refusal, noting("a"), refusal, refusal])).end.kind, "refused");
});

test("ten calls in a row that cannot be understood end the attempt", async () => {
  const wrong = Array.from({ length: 10 }, (): ScriptedAnswer => ({ calls: [["fly", {}]] }));
  const { end } = await run([plan, ...wrong]);
  assert.equal(end.kind, "stopped");
});

test("turnsMax counts the planner's call", async () => {
  const { end, seen } = await run([plan, noting("a"), noting("b")], {
    spec: { kind: "mlrb-2024", turnsMax: 2 },
  });
  assert.deepEqual(end, { kind: "over-budget", limit: "turns", detail: "2 model calls are used up" });
  assert.equal(seen.length, 2);
});

test("a used-up budget ends the attempt before the plan and after it", async () => {
  const drive: Drive = { used: 1, leftMs: 0, over: { limit: "dollars", detail: "spent" } };
  for (const script of [[{ kind: "over" as const }], [plan, { kind: "over" as const }]])
    assert.deepEqual((await run(script, { drive })).end, {
      kind: "over-budget",
      limit: "dollars",
      detail: "spent",
    });
});

test("a request that would be too long shows shorter actions, and the record says so", async () => {
  const long = (name: string): ScriptedAnswer => ({ calls: [["fly", { [name]: "x".repeat(20_000) }]] });
  const script = [plan, ...Array.from({ length: 6 }, (_, index) => long(`n${index}`)), ...handIn];
  const model = { provider: "t", id: "t", contextTokens: 6000, maxOutputTokens: 500 };
  const { seen, events } = await run(script, { model });
  const requests = seen.slice(1).map((one) => userText(one).length);
  assert.ok(Math.max(...requests) < (6000 - 500) * 3.5, String(requests));
  assert.ok(events.some(({ event }) => event === "context-cut"));
});

test("a request that the provider refuses as too long is made shorter and sent again", async () => {
  const long: ScriptedAnswer = { calls: [["fly", { a: "x".repeat(20_000) }]] };
  const { end, seen } = await run([plan, long, long, { kind: "too-long" }, ...handIn], {
    model: { provider: "t", id: "t", contextTokens: 12_000, maxOutputTokens: 500 },
  });
  assert.deepEqual(end, { kind: "submitted" });
  assert.ok(userText(seen[4]!).length < userText(seen[3]!).length);
});
