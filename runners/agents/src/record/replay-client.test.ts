import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ModelCallEvent } from "@mlrb/formats/attempt/trajectory";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import type { Message, ModelRequest } from "../model/model-client.ts";
import { attachmentsIn, inlineMax } from "./attachments.ts";
import { type Recording, readRecording } from "./recording.ts";
import { replayClient } from "./replay-client.ts";
import { ReplayMiss } from "./replay-miss.ts";
import { requestDigest } from "./request-digest.ts";
import { openTrajectory } from "./trajectory.ts";

const model: ModelSpec = { provider: "p", id: "m", contextTokens: 1000 };
const digestAt = (deadline: string) => requestDigest({ provider: "p", id: "m" }, { deadline });
const user = (text: string): Message => ({ role: "user", text });
const request = (...messages: Message[]): ModelRequest => ({
  messages,
  tools: [{ name: "shell", description: "runs", input: { type: "object" } }],
  signal: new AbortController().signal,
});

/** A recording of one call with these `messages`. */
function recordingOf(messages: Message[], texts: string[]): Recording {
  const { digest } = digestAt("noon")(request(...messages));
  const response = { reasoning: null, toolCalls: [], finish: "stop" as const, usage: null, answeredBy: null };
  return {
    model,
    scaffold: { kind: "react" },
    ...{ results: [], reminders: [] },
    calls: texts.map((text, index) => ({
      ...{ call: index + 1, by: "agent", requestDigest: digest, durationMs: 1 },
      response: { ...response, text },
    })),
  };
}

test("requests that differ only in the deadline match, and equal ones are answered in their order", async () => {
  const client = replayClient(recordingOf([user("until noon")], ["one", "two"]), {
    digestOf: digestAt("midnight"),
  });
  const answers = [];
  for (let call = 0; call < 2; call++) answers.push(await client.call(request(user("until midnight"))));
  assert.deepEqual(
    answers.map((answer) => answer.kind === "answered" && answer.response.text),
    ["one", "two"],
  );
  await assert.rejects(client.call(request(user("until midnight"))), /answered already/);
});

test("any other request is an error that names the last message in common", async () => {
  const known = [user("task"), user("more")];
  const client = () => replayClient(recordingOf(known, ["one"]), { digestOf: digestAt("noon") });
  const missed = async (asked: ModelRequest) => {
    const error = await client()
      .call(asked)
      .catch((one: unknown) => one);
    assert.ok(error instanceof ReplayMiss);
    return error.message;
  };
  const longer = await missed(
    request(...known, { role: "tool", callId: "1", name: "shell", text: "!", failed: false }),
  );
  assert.match(longer, /matches the recording up to message 2 of 3; the messages after that \(tool\) differ/);
  assert.match(await missed(request(user("another task"))), /model, tools or first messages differ/);
  assert.match(await missed({ ...request(...known), tools: [] }), /model, tools or first messages differ/);
});

function written(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "recording-"));
  t.after(() => removeFolder(folder));
  mkdirSync(join(folder, "attachments"));
  const trajectory = openTrajectory(join(folder, "trajectory.jsonl"), {
    now: () => ({ wall: 0, sinceStart: 0 }),
    attachments: attachmentsIn(join(folder, "attachments")),
  });
  return { folder, trajectory };
}

const event: ModelCallEvent = {
  event: "model-call",
  call: 1,
  by: "agent",
  provider: "p",
  model: "m",
  answeredBy: "m-2",
  requestDigest: "a".repeat(64),
  messages: 1,
  text: "x".repeat(inlineMax + 1),
  reasoning: "because\u2029",
  toolCalls: [
    { id: "1", name: "shell", input: '{"command":"ls"}', malformed: false },
    { id: "2", name: "shell", input: '{"command":', malformed: true },
  ],
  finish: "tool-calls",
  raw: '{"signature":"s"}',
  usage: null,
  dollars: null,
  durationMs: 1,
  tries: 1,
};

test("a recording holds the complete answers of the model, and each reminder with its look", async (t) => {
  const { folder, trajectory } = written(t);
  trajectory.add(exampleEvent("start", { model, scaffold: { kind: "react" } }));
  trajectory.add({ event: "reminder", look: 3, text: "half is\u2028used" });
  trajectory.add(event);
  const read = await readRecording(folder);
  assert.ok(typeof read !== "string", String(read));
  assert.deepEqual(
    read.reminders.map(({ look, text }) => ({ look, text })),
    [{ look: 3, text: "half is\u2028used" }],
  );
  const { response } = read.calls[0]!;
  assert.equal(response.text, event.text);
  assert.deepEqual(response.raw, { signature: "s" });
  assert.deepEqual(response.toolCalls, [
    { id: "1", name: "shell", input: { command: "ls" } },
    { id: "2", name: "shell", malformed: '{"command":' },
  ]);
});

test("a recording that was changed, lacks an attachment or is of another kind of agent is refused with the line", async (t) => {
  const lacking = written(t);
  lacking.trajectory.add(exampleEvent("start", { model, scaffold: { kind: "react" } }));
  lacking.trajectory.add(event);
  rmSync(join(lacking.folder, "attachments", readdirSync(join(lacking.folder, "attachments"))[0]!));
  assert.match(
    String(await readRecording(lacking.folder)),
    /trajectory\.jsonl:2: attachments\/[0-9a-f]{64} is missing/,
  );

  const program = written(t);
  program.trajectory.add(exampleEvent("start", { kind: "command" }));
  assert.match(String(await readRecording(program.folder)), /only attempts of llm agents can be replayed/);

  const changed = written(t);
  changed.trajectory.add(exampleEvent("start", { model }));
  changed.trajectory.add(event);
  writeFileSync(join(changed.folder, "trajectory.jsonl"), '{"formatVersion":1,"index":0}\n');
  assert.match(String(await readRecording(changed.folder)), /trajectory\.jsonl:1: does not follow/);
  assert.match(String(await readRecording(join(changed.folder, "none"))), /cannot be read: ENOENT/);
});

test("a recording with a malformed model, scaffold or tool input is refused with the field", async (t) => {
  const refusal = async (start: Record<string, object>, call: ModelCallEvent) => {
    const { folder, trajectory } = written(t);
    trajectory.add(exampleEvent("start", { model, scaffold: { kind: "react" }, ...start }));
    trajectory.add(call);
    return (await readRecording(folder)) as string;
  };
  assert.match(
    await refusal({ model: { ...model, contextTokens: "many" } }, event),
    /:1: model: contextTokens is "many"/,
  );
  assert.match(
    await refusal({ scaffold: { kind: "tree" } }, event),
    /:1: scaffold: kind is "tree", not one of/,
  );
  const toolCalls = [{ id: "1", name: "shell", input: "[1]", malformed: false }];
  assert.match(
    await refusal({}, { ...event, toolCalls }),
    /:2: the input of shell: the file is a list, not an object/,
  );
});

test("a difference between two conversations is found at any distance", () => {
  const digest = digestAt("noon");
  const many = Array.from({ length: 50 }, (_, index) => user(`message ${index}`));
  const other = many.map((message, index) => (index === 3 ? user("another") : message));
  const [one, two] = [digest(request(...many)), digest(request(...other))];
  assert.notEqual(one.digest, two.digest);
  assert.equal(
    one.chain.findIndex((part, index) => part !== two.chain[index]),
    4,
  );
});
