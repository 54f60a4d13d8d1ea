// A conversation that was cut off after any of its events must continue as if nothing had happened.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { ModelCallEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import type { Message, ModelResponse } from "../model/model-client.ts";
import { endedByRestart } from "../scaffold/notices.ts";
import type { AskResult, ScaffoldRequest } from "../scaffold/scaffold.ts";
import { scaffolds } from "../scaffold/scaffolds.ts";
import { type ScriptedAnswer, scripted, workspaceIn } from "../testing/scripted-scaffold.ts";
import { isTaped, Tape } from "./tape.ts";

type Answers = (ScriptedAnswer | AskResult)[];

const tooLong: AskResult = { kind: "too-long" };
const experiment = { id: "1", parent: null, hypothesis: "h", change: "c", command: "x", decision: "keep" };
const log = (word: string): [string, { command: string }] => ["shell", { command: `echo ${word} >> log` }];

const scripts: Record<ScaffoldSpec["kind"], Answers> = {
  react: [
    { text: "I begin.", calls: [log("one"), ["view_file", { path: "TASK.md" }]] },
    { text: "I think." },
    tooLong,
    {
      calls: [
        ["write_file", { path: "a.txt", text: "a" }],
        ["edit_file", { path: "a.txt", old: "a", new: "b" }],
      ],
    },
    {
      calls: [
        ["note", { text: "Division is hard." }],
        ["iteration", { ...experiment, metric: null }],
      ],
    },
    {
      calls: [
        ["fly", {}],
        ["shell", '{"command": "ls'],
      ],
    },
    { text: "No.", finish: "refusal" },
    { calls: [["python", { code: "open('log', 'a').write('three\\n')" }]] },
    { calls: [["submit", {}]] },
    { calls: [["submit", {}]] },
  ],
  "supervisor-worker": [
    {
      calls: [
        ["note", { text: "Baseline first." }],
        ["delegate", { task: "Count." }],
      ],
    },
    { calls: [log("one"), ["note", { text: "Counted." }]] },
    { calls: [["return_result", { summary: "counted" }]] },
    {
      calls: [
        ["delegate", { task: "Again." }],
        ["delegate", { task: "And again." }],
      ],
    },
    { calls: [log("two")] },
    { text: "I stop." },
    { text: "Really." },
    { text: "Yes." },
    { calls: [log("three"), ["return_result", { summary: "done" }]] },
    { calls: [["submit", {}]] },
    { calls: [["submit", {}]] },
  ],
  "mlrb-2024": [
    { text: "First this, then that." },
    { text: "I think." },
    { calls: [log("one"), log("never")] },
    tooLong,
    { calls: [log("two")] },
    { text: "No.", finish: "refusal" },
    { calls: [["submit", {}]] },
    { calls: [["submit", {}]] },
  ],
};

type Ran = { events: TrajectoryEvent[]; asked: Message[][]; end: unknown };

/** Runs the scaffold with the answers from number `from` on. */
async function run(kind: ScaffoldSpec["kind"], sandbox: Sandbox, from: number, tape?: Tape): Promise<Ran> {
  const events: TrajectoryEvent[] = [];
  const write = (event: TrajectoryEvent) => void (tape?.knows(event) || events.push(event));
  const { request, seen } = scripted(scripts[kind], sandbox, {
    spec: {
      kind,
      ...(kind === "mlrb-2024" && { planner: { provider: "test", id: "test", contextTokens: 1e5 } }),
    },
    write,
  });
  seen.length = from;
  let look = 0;
  const ask: ScaffoldRequest["ask"] = async (by, messages, tools) => {
    const known = tape?.answer(by);
    if (known) return known;
    const answer = await request.ask(by, messages, tools);
    if (answer.kind === "answered") events.push(callOf(by, answer.response));
    if (answer.kind === "too-long") events.push({ ...exampleEvent("model-try"), by, cause: "too-long" });
    return answer;
  };
  const end = await scaffolds[kind]({
    ...request,
    ask,
    ...(kind === "mlrb-2024" && { askPlanner: ask }),
    noticesDue() {
      look++;
      const known = tape?.reminders(look);
      if (known) return known;
      const due = look % 3 === 2 ? [`reminder ${look}`] : [];
      for (const text of due) events.push({ event: "reminder", look, text });
      return due;
    },
    ...(tape && { tape }),
  });
  return { events, end, asked: seen.slice(from).map(({ messages }) => messages) };
}

function callOf(by: string, response: ModelResponse): ModelCallEvent {
  const toolCalls = response.toolCalls.map((call) => ({
    ...{ id: call.id, name: call.name, malformed: "malformed" in call },
    input: "malformed" in call ? call.malformed : JSON.stringify(call.input),
  }));
  const { text, finish, usage } = response;
  return { ...exampleEvent("model-call"), by, text, finish, usage, toolCalls };
}

/** What the shell and python tools did in the workspace since the last look. */
function logged(sandbox: Sandbox): string[] {
  const path = join(sandbox.seenAs("workspace"), "log");
  try {
    return readFileSync(path, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  } finally {
    rmSync(path, { force: true });
  }
}

const isAnswer = ({ event }: TrajectoryEvent) => event === "model-call" || event === "model-try";
const ended = endedByRestart;

/** The requests without texts that a restart changes: the result of a tool that it ended. */
function withoutEnded(requests: Message[][], ids: string[]): Message[][] {
  return requests.map((messages) =>
    messages.map((message) =>
      message.role === "tool" && ids.includes(message.callId)
        ? { ...message, text: "", failed: false }
        : message,
    ),
  );
}

/** Its programs are played: starting a process for each would take seconds. */
async function playedSandbox(t: TestContext): Promise<Sandbox> {
  const sandbox = await workspaceIn(t, "plain");
  return {
    ...sandbox,
    async exec({ argv }) {
      const word = /^echo (\w+) >> log$/.exec(argv.at(-1)!)?.[1] ?? (argv.includes("python3") && "two");
      if (word) appendFileSync(join(sandbox.seenAs("workspace"), "log"), `${word}\n`);
      return { kind: "exited", code: 0 };
    },
  };
}

async function continuesAfterEach(t: TestContext, kind: ScaffoldSpec["kind"]): Promise<void> {
  const sandbox = await playedSandbox(t);
  const whole = await run(kind, sandbox, 0);
  const done = logged(sandbox);
  assert.deepEqual(whole.end, { kind: "submitted" });
  assert.equal(whole.asked.length, scripts[kind].length);
  for (let cut = 0; cut <= whole.events.length; cut++) {
    const before = structuredClone(whole.events.slice(0, cut));
    const answers = before.filter(isAnswer).length;
    const events = before.filter(isTaped);
    const tape = new Tape({ events, attachments: undefined });
    const rest = await run(kind, sandbox, answers, tape);
    const where = `${kind} after event ${cut}, ${before.at(-1)?.event}`;
    assert.deepEqual(rest.end, whole.end, where);
    const results = rest.events.filter((event) => event.event === "tool-result");
    const lost = results.filter(({ text }) => text === ended).map(({ id }) => id);
    assert.ok(lost.length <= 1, where);
    if (kind !== "mlrb-2024" || lost.length === 0) {
      const asked = withoutEnded(rest.asked, lost);
      assert.deepEqual(asked, withoutEnded(whole.asked.slice(answers), lost), where);
    }
    // the result of a program that a restart ended is longer, and may need a cut
    const either = lost.length > 0 ? ["file-change", "context-cut"] : ["file-change"];
    const names = (all: TrajectoryEvent[]) =>
      all.map(({ event }) => event).filter((name) => !either.includes(name));
    assert.deepEqual(names([...before, ...rest.events]), names(whole.events), where);
    const later = logged(sandbox);
    assert.deepEqual(later, later.length === 0 ? [] : done.slice(-later.length), where);
    const ran = before.filter((event) => event.event === "tool-result" && event.executed).length;
    assert.ok(later.length <= Math.max(0, done.length - ran + 1), where);
  }
}

for (const kind of ["react", "supervisor-worker", "mlrb-2024"] as const)
  test(`a ${kind} conversation continues after each of its events without asking or running anything twice`, (t) =>
    continuesAfterEach(t, kind));

test("a scaffold that comes to something else than its trajectory holds is stopped", () => {
  const events = [{ ...exampleEvent("message"), by: "agent" }];
  const tape = new Tape({ events, attachments: undefined });
  assert.throws(
    () => tape.knows({ ...exampleEvent("message"), by: "worker-1" }),
    /its scaffold comes to message worker-1 prompt where it came to message agent prompt; continue it with the version/,
  );
});

test("a result whose text is not whole is not told to the model: the attempt stops, and names the file", (t) => {
  const digest = "0".repeat(64);
  const call = exampleEvent("tool-call");
  const result: TrajectoryEvent = {
    ...{ ...exampleEvent("tool-result"), name: call.name },
    text: { head: "the beginning", digest, bytes: 50_000 },
  };
  const tape = new Tape({ events: [call, result].filter(isTaped), attachments: t.name });
  tape.knows(call);
  assert.throws(() => tape.past(call.name), new RegExp(`attachments/${digest}, is missing or was changed`));
});
