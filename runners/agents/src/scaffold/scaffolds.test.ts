import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { type ScaffoldSpec, turnsMaxDefault } from "@mlrb/formats/declared/agent-preset";
import type { Message } from "../model/model-client.ts";
import { fakeSandbox } from "../testing/fake-sandbox.ts";
import {
  type Drive,
  type Script,
  type ScriptedAnswer,
  type SeenCall,
  scripted,
} from "../testing/scripted-scaffold.ts";
import type { ScaffoldRequest } from "./scaffold.ts";
import { scaffolds } from "./scaffolds.ts";

type More = Partial<Omit<ScaffoldRequest, "spec">> & { spec?: Partial<ScaffoldSpec>; drive?: Drive };

async function run(kind: ScaffoldSpec["kind"], script: Script, { spec = {}, ...more }: More = {}) {
  const { request, seen, events } = scripted(script, fakeSandbox(), { ...more, spec: { kind, ...spec } });
  return { end: await scaffolds[kind](request), seen, events };
}

const noting = (text: string): ScriptedAnswer => ({ calls: [["note", { text }]] });
/** submission/ is empty in the sandbox of these tests, so submit must be called twice. */
const handIn: ScriptedAnswer[] = [{ calls: [["submit", {}]] }, { calls: [["submit", {}]] }];

function last<T>(list: T[]): T {
  return list.at(-1)!;
}

const texts = (messages: Message[]) => messages.map(({ text }) => text);

function messages(events: TrajectoryEvent[], why: string): string[] {
  return events.flatMap((one) => (one.event === "message" && one.why === why ? [String(one.text)] : []));
}

test("several calls of one answer run in order, and those after the end do not", async () => {
  const { end, seen, events } = await run("react", [
    {
      calls: [
        ["note", { text: "a" }],
        ["note", { text: "" }],
        ["note", { text: "b" }],
      ],
    },
    { calls: [["submit", {}]] },
    {
      calls: [
        ["submit", {}],
        ["note", { text: "never" }],
      ],
    },
  ]);
  assert.deepEqual(end, { kind: "submitted" });
  const results = seen[1]!.messages.slice(3);
  assert.deepEqual(
    results.map((one) => (one.role === "tool" ? [one.callId, one.failed] : [])),
    [
      ["call-1-1", false],
      ["call-1-2", true],
      ["call-1-3", false],
    ],
  );
  const noted = events.flatMap((one) => (one.event === "note" ? [one.text] : []));
  assert.deepEqual(noted, ["a", "b"]);
});

test("prompt, task, each call and each result are recorded", async () => {
  const { events } = await run("react", [noting("a"), ...handIn]);
  assert.deepEqual(
    events.map((one) => ("name" in one ? `${one.event} ${one.name}` : one.event)),
    [
      ...["message", "message", "tool-call note", "note", "tool-result note"],
      ...["tool-call submit", "tool-result submit", "tool-call submit", "tool-result submit"],
    ],
  );
  const result = events.find((one) => one.event === "tool-result");
  assert.deepEqual(
    { ...result, durationMs: 0 },
    {
      ...{ event: "tool-result", by: "agent", id: "call-1-1", name: "note", outcome: "done", exit: null },
      ...{ text: "noted", rest: null, durationMs: 0, executed: false },
    },
  );
});

test("a model without any text is silent, one that ends with text has stopped", async () => {
  const [nothing, words] = [{ text: " " }, { text: "I am done." }];
  const ended = async (...said: ScriptedAnswer[]) => (await run("react", said)).end.kind;
  assert.equal(await ended(nothing, nothing, nothing), "silent");
  assert.equal(await ended(nothing, words, nothing), "stopped");
  assert.equal(await ended(words, words, noting("a"), nothing, nothing, nothing), "silent");
});

test("an answer without a call gets a nudge, and the third in a row ends the attempt", async () => {
  const silent = { text: "I am done." };
  const { end, events } = await run("react", [silent, silent, noting("a"), silent, silent, silent]);
  assert.deepEqual(end, {
    kind: "stopped",
    detail: '3 answers in a row called no tool; the last: "I am done."',
  });
  assert.equal(messages(events, "nudge").length, 4);
});

test("an empty answer is sent back as something, since providers take no empty one", async () => {
  const { seen } = await run("react", [{}, ...handIn]);
  assert.deepEqual(seen[1]!.messages[2], { role: "assistant", text: "(nothing)", toolCalls: [] });
});

test("an answer cut at its length gets a nudge", async () => {
  const { seen } = await run("react", [{ text: "so long", finish: "length" }, ...handIn]);
  assert.match(last(seen[1]!.messages).text, /^Your answer was cut off at the limit of its length/);
});

test("a refusal gets a nudge once, and the second in a row ends the attempt", async () => {
  const refusal: ScriptedAnswer = {
    text: "I will not.",
    finish: "refusal",
    calls: [["note", { text: "not done" }]],
  };
  const { end, events, seen } = await run("react", [refusal, noting("a"), refusal, refusal]);
  assert.deepEqual(end, { kind: "refused", detail: "I will not." });
  assert.equal(events.filter(({ event }) => event === "note").length, 1);
  assert.deepEqual(seen[1]!.messages[2], { role: "assistant", text: "I will not.", toolCalls: [] });
});

test("senseless calls are answered with how to call, and ten in a row end the attempt", async () => {
  const bad: ScriptedAnswer[] = [
    {
      calls: [
        ["note", '{"text": "a'],
        ["fly", {}],
        ["note", { words: "a" }],
      ],
    },
    noting("a"),
    ...Array.from(
      { length: 5 },
      (): ScriptedAnswer => ({
        calls: [
          ["fly", {}],
          ["note", "x"],
        ],
      }),
    ),
  ];
  const { end, seen } = await run("react", bad);
  assert.deepEqual(end, { kind: "stopped", detail: "10 tool calls in a row could not be understood" });
  const results = texts(seen[1]!.messages.slice(3));
  assert.match(
    results[0]!,
    /^the arguments of note are no JSON object; call it with \["text"\] as \{"text":/,
  );
  assert.match(results[1]!, /^there is no tool "fly"; there are shell, python, /);
  assert.match(results[2]!, /^note cannot be called like this:\n- text is missing\n- words is not known/);
});

test("calls beyond the limit of one answer are refused", async () => {
  const calls = Array.from({ length: 40 }, (_, index): [string, { text: string }] => [
    "note",
    { text: `${index}` },
  ]);
  const { seen, events } = await run("react", [{ calls }, ...handIn]);
  assert.equal(events.filter(({ event }) => event === "note").length, 32);
  assert.equal(seen[1]!.messages.filter(({ role }) => role === "tool").length, 40);
  assert.match(last(seen[1]!.messages).text, /^not done: an answer may have 32 calls, this one has 40/);
});

test("calls with repeated or empty ids or odd names go back in a form that providers accept", async () => {
  const call = (id: string) => ({ id, name: "note", input: { text: "a" } });
  const answer = {
    ...{ text: "", reasoning: null, usage: null, answeredBy: null, finish: "tool-calls" as const },
    toolCalls: [call(""), call("0"), call("0"), { ...call("1"), name: "fly away!" }],
    raw: { signed: true },
  };
  const { seen } = await run("react", [{ kind: "answered", response: answer }, ...handIn]);
  const [, , asked, ...results] = seen[1]!.messages;
  const ids = asked?.role === "assistant" ? asked.toolCalls.map(({ id }) => id) : [];
  assert.equal(new Set(ids).size, 4);
  assert.ok(
    asked?.role === "assistant" && asked.raw === undefined && asked.toolCalls[3]!.name === "fly_away_",
  );
  assert.deepEqual(
    results.map((one) => one.role === "tool" && one.callId),
    ids,
  );
});

test("a loop that never ends is ended after its turns", async () => {
  const { end, seen } = await run("react", () => noting("a"), { spec: { turnsMax: 7 } });
  assert.deepEqual(end, { kind: "over-budget", limit: "turns", detail: "7 model calls are used up" });
  assert.equal(seen.length, 7);
});

test("a loop that never ends is ended also if the preset sets no turns", async () => {
  let asked = 0;
  const answer = { text: "", reasoning: null, usage: null, answeredBy: null, finish: "tool-calls" as const };
  const toolCalls = [{ id: "a", name: "note", input: { text: "a" } }];
  const { end } = await run("react", [], {
    model: { provider: "test", id: "test", contextTokens: 6_000, maxOutputTokens: 100 },
    async ask() {
      asked++;
      return { kind: "answered", response: { ...answer, toolCalls } };
    },
  });
  assert.deepEqual([end.kind, asked], ["over-budget", turnsMaxDefault]);
});

test("a used-up budget ends the loop with the limit that was met", async () => {
  const over = { limit: "dollars" as const, detail: "10.02 of 10 dollars" };
  const { end } = await run("react", [{ kind: "over" }], { drive: { used: 1, leftMs: 1_000, over } });
  assert.deepEqual(end, { kind: "over-budget", ...over });
});

test("the end of an attempt ends the loop with the reason", async () => {
  const ending = new AbortController();
  const script: Script = (_, index) => {
    if (index === 1) ending.abort(new Error("the time is over"));
    return noting("a");
  };
  await assert.rejects(run("react", script, { signal: ending.signal }), /the time is over/);
});

test("each share of the budget is announced once, and of several passed ones the last", async () => {
  const drive = { used: 0.1, leftMs: 54 * 60_000 };
  const at = [0.1, 0.5, 0.6, 0.95, 0.96, 0.99];
  const { seen, events } = await run(
    "react",
    (_, index) => {
      drive.used = at[index + 1] ?? 1;
      drive.leftMs = (1 - drive.used) * 3_600_000;
      return index < 5 ? noting("a") : { calls: [["submit", {}]] };
    },
    { drive },
  );
  assert.deepEqual(
    messages(events, "notice").map((text) => text.split(" Make")[0]!.split(" Begin")[0]!.split(" Finish")[0]),
    [
      "[Notice] 50 % of your budget is used. About 30 minutes of working time left.",
      "[Notice] 90 % of your budget is used. About 3 minutes of working time left.",
      "[Notice] 97 % of your budget is used. About 1 minute of working time left.",
    ],
  );
  assert.match(last(seen[1]!.messages).text, /^\[Notice\] 50 %/);
});

test("a replay sends the recorded notices, with any budget", async () => {
  const due = [[], ["[Notice] as recorded"]];
  const { events, seen } = await run("react", [noting("a"), ...handIn], {
    drive: { used: 0.99, leftMs: 1 },
    noticesDue: () => due.shift() ?? [],
  });
  assert.deepEqual(messages(events, "notice"), ["[Notice] as recorded"]);
  assert.ok(seen.every(({ messages }) => !messages.some(({ text }) => text.includes("97 %"))));
});

test("a long conversation stays within the model's context, and keeps its notes", async () => {
  const model = { provider: "test", id: "test", contextTokens: 8_000, maxOutputTokens: 1_000 };
  const long = "x".repeat(3_000);
  const { seen, events } = await run(
    "react",
    (_, index) =>
      index === 0
        ? noting("remember 42")
        : index < 60
          ? { text: `${index} ${long}`, ...noting("n") }
          : { calls: [["submit", {}]] },
    { model },
  );
  const sizes = seen.map(({ messages, tools }) => JSON.stringify([messages, tools]).length);
  assert.ok(Math.max(...sizes) < 7_000 * 3.5 * 1.1, `${Math.max(...sizes)}`);
  assert.ok(texts(last(seen).messages).some((text) => text.includes("remember 42")));
  const cuts = events.filter(({ event }) => event === "context-cut");
  assert.ok(cuts.length > 2 && cuts.length < 30, `${cuts.length}`);
});

test("a request that the provider refuses as too long is cut and sent again", async () => {
  const long = "x".repeat(3_000);
  const { seen, end } = await run("react", (_, index) => {
    if (index < 20) return { text: long, ...noting("a") };
    return index < 23 ? { kind: "too-long" } : handIn[0]!;
  });
  assert.deepEqual(end, { kind: "submitted" });
  const sizes = seen.map(({ messages }) => JSON.stringify(messages).length);
  assert.ok(sizes[21]! < sizes[20]! && sizes[22]! < sizes[21]! && sizes[23]! < sizes[22]!);
});

test("a task that is too long for the model is a mistake of the preset, not of the agent", async () => {
  await assert.rejects(
    run("react", () => ({ kind: "too-long" })),
    { cause: "too-long", message: /takes no request of \d+ characters.*`contextTokens` in the preset/ },
  );
});

const by = (seen: SeenCall[], who: string) => seen.filter((one) => one.by === who);

test("a worker begins with task, notes and its piece of work only, and its result goes to the supervisor", async () => {
  const { end, seen, events } = await run("supervisor-worker", [
    noting("the data are small"),
    { calls: [["delegate", { task: "Count the rows.", context: "They lie in data/." }]] },
    { calls: [["note", { text: "there are 7 rows" }]] },
    { calls: [["return_result", { summary: "7 rows" }]] },
    { calls: [["delegate", { task: "Train." }]] },
    { calls: [["return_result", { summary: "done" }]] },
    ...handIn,
  ]);
  assert.deepEqual(end, { kind: "submitted" });
  assert.deepEqual(
    seen.map((one) => one.by),
    [
      "supervisor",
      "supervisor",
      "worker-1",
      "worker-1",
      "supervisor",
      "worker-2",
      "supervisor",
      "supervisor",
    ],
  );
  const [, task] = texts(by(seen, "worker-1")[0]!.messages);
  assert.match(
    task!,
    /Do the task\.[\s\S]*Notes so far:\n1\. the data are small[\s\S]*They lie in data\/\.[\s\S]*Your piece of work:\nCount the rows\.$/,
  );
  assert.equal(by(seen, "worker-1")[0]!.messages.length, 2);
  assert.match(texts(by(seen, "worker-2")[0]!.messages)[1]!, /2\. there are 7 rows/);
  assert.equal(
    last(by(seen, "supervisor")[2]!.messages).text,
    "7 rows\n\nThe notes now:\n1. the data are small\n2. there are 7 rows",
  );
  assert.equal(last(by(seen, "supervisor")[3]!.messages).text, "done");
  const results = events.flatMap((one) => (one.event === "tool-result" ? [`${one.by} ${one.name}`] : []));
  assert.deepEqual(results.slice(1, 4), ["worker-1 note", "worker-1 return_result", "supervisor delegate"]);
});

test("a supervisor has no tools for the work, and a worker cannot submit", async () => {
  const { seen } = await run("supervisor-worker", [
    { calls: [["delegate", { task: "Work." }]] },
    { calls: [["return_result", { summary: "done" }]] },
    ...handIn,
  ]);
  const names = (who: string) => by(seen, who)[0]!.tools.map(({ name }) => name);
  assert.deepEqual(names("supervisor"), ["delegate", "view_file", "note", "iteration", "submit"]);
  assert.deepEqual(names("worker-1"), [
    ...["shell", "python", "view_file", "edit_file", "write_file", "note", "iteration", "return_result"],
  ]);
});

test("a worker that uses all its answers is warned before, and ends without ending the attempt", async () => {
  const { end, seen, events } = await run("supervisor-worker", (now, index) => {
    if (now.by !== "supervisor") return { text: `thought ${index}`, ...noting("n") };
    return index === 0 ? { calls: [["delegate", { task: "Work." }]] } : handIn[0]!;
  });
  assert.deepEqual(end, { kind: "submitted" });
  assert.equal(by(seen, "worker-1").length, 50);
  assert.match(messages(events, "nudge")[0]!, /^You have 5 answers left/);
  assert.match(
    last(by(seen, "supervisor")[1]!.messages).text,
    /^the worker used all of its 50 answers and returned nothing; its last words:\nthought 50/,
  );
});

test("a worker that stops or refuses is reported to the supervisor, which continues", async () => {
  const { end, seen } = await run("supervisor-worker", [
    { calls: [["delegate", { task: "Work." }]] },
    ...[{ text: "a" }, { text: "b" }, { text: "c" }],
    { calls: [["delegate", { task: "Work." }]] },
    ...[
      { text: "no", finish: "refusal" as const },
      { text: "no", finish: "refusal" as const },
    ],
    ...handIn,
  ]);
  assert.deepEqual(end, { kind: "submitted" });
  assert.match(
    last(by(seen, "supervisor")[1]!.messages).text,
    /^the worker stopped and returned nothing: 3 answers/,
  );
  assert.match(last(by(seen, "supervisor")[2]!.messages).text, /^the worker declined: no/);
});

test("turns and budget are counted over supervisor and workers together", async () => {
  const turns = await run(
    "supervisor-worker",
    (now) => (now.by === "supervisor" ? { calls: [["delegate", { task: "Work." }]] } : noting("a")),
    { spec: { turnsMax: 10 } },
  );
  assert.deepEqual([turns.end.kind, turns.seen.length], ["over-budget", 10]);
  const over = { limit: "tokens" as const, detail: "11 of 10" };
  const budget = await run(
    "supervisor-worker",
    (now) => (now.by === "supervisor" ? { calls: [["delegate", { task: "Work." }]] } : { kind: "over" }),
    { drive: { used: 0, leftMs: 1_000, over } },
  );
  assert.deepEqual(budget.end, { kind: "over-budget", ...over });
});

test("a notice during a worker's turn reaches the supervisor too", async () => {
  const due = [[], [], ["[Notice] half"]]; // one list for each request
  const { seen } = await run(
    "supervisor-worker",
    [
      { calls: [["delegate", { task: "Work." }]] },
      noting("a"),
      { calls: [["return_result", { summary: "done" }]] },
      ...handIn,
    ],
    { noticesDue: () => due.shift() ?? [] },
  );
  const heard = (who: string) => by(seen, who).map(({ messages }) => last(messages).text === "[Notice] half");
  assert.ok(heard("supervisor").includes(true));
  assert.ok(texts(by(seen, "worker-1").at(-1)!.messages).some((text) => text.includes("[Notice] half")));
});
