import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { textRedactor } from "@mlrb/core/ports/redactor";
import {
  type ModelCallEvent,
  type ToolResultEvent,
  type TrajectoryEvent,
  trajectoryLine,
} from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { Ajv } from "ajv";
import { attachmentsIn, inlineMax, wholeText } from "./attachments.ts";
import { openTrajectory } from "./trajectory.ts";

function opened(t: TestContext, redact?: (text: string) => string) {
  const folder = mkdtempSync(join(tmpdir(), "trajectory-"));
  t.after(() => removeFolder(folder));
  const path = join(folder, "trajectory.jsonl");
  const attachments = join(folder, "attachments");
  const trajectory = openTrajectory(path, {
    now: () => ({ wall: 0, sinceStart: 0 }),
    attachments: attachmentsIn(attachments),
    ...(redact && { redact }),
  });
  const lines = () =>
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { path, attachments, trajectory, lines };
}

const result = (text: string): ToolResultEvent => ({
  event: "tool-result",
  by: "agent",
  id: "1",
  name: "shell",
  outcome: "done",
  exit: { code: 0 },
  text,
  rest: null,
  durationMs: 1,
  executed: true,
});
const call: ModelCallEvent = {
  event: "model-call",
  call: 1,
  by: "agent",
  provider: "p",
  model: "m",
  answeredBy: "m-1",
  requestDigest: "0".repeat(64),
  messages: 2,
  text: "I will look.",
  reasoning: null,
  toolCalls: [{ id: "1", name: "shell", input: '{"command":"ls"}', malformed: false }],
  finish: "tool-calls",
  usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: null, reasoningTokens: 0 },
  dollars: null,
  durationMs: 1,
  tries: 1,
};

test("a long text is an attachment, once, and its line holds the beginning", (t) => {
  const { trajectory, attachments, lines } = opened(t);
  const long = "é".repeat(inlineMax + 1);
  trajectory.add(result(long));
  trajectory.add(result(long));
  trajectory.add(result("short"));
  const [first, second, third] = lines();
  assert.deepEqual(first.text, second.text);
  assert.equal(third.text, "short");
  assert.deepEqual(readdirSync(attachments), [first.text.digest]);
  assert.deepEqual(wholeText(first.text, attachments), { text: long, whole: true });
  writeFileSync(join(attachments, first.text.digest), "somebody else's words");
  assert.deepEqual(wholeText(first.text, attachments), { text: first.text.head, whole: false });
  assert.deepEqual(wholeText({ ...first.text, digest: "../../etc/passwd" }, attachments).whole, false);
  rmSync(join(attachments, first.text.digest));
  execFileSync("mkfifo", [join(attachments, first.text.digest)]); // a pipe would block the reader for ever
  assert.deepEqual(wholeText(first.text, attachments).whole, false);
});

test("no secret reaches the disk, in any field or form", (t) => {
  const key = 'sk-"secret"/1';
  const { trajectory, path, attachments } = opened(t, textRedactor({ KEY: key }));
  const events: TrajectoryEvent[] = [
    result(`the key is ${key}`),
    result(`${"x".repeat(inlineMax)}${key}`),
    {
      ...call,
      text: Buffer.from(key).toString("base64"),
      reasoning: encodeURIComponent(key),
      raw: JSON.stringify({ key }),
    },
    { event: "iteration", line: JSON.stringify({ [key]: [key] }), wellFormed: true },
    { ...exampleEvent("start"), ...{ deep: { [key]: [{ again: key }] } } },
  ];
  for (const event of events) trajectory.add(event);
  const said = [path, ...readdirSync(attachments).map((name) => join(attachments, name))]
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  for (const form of [
    key,
    JSON.stringify(key).slice(1, -1),
    "sk-",
    "c2stInNlY3JldCIvMQ",
    encodeURIComponent(key),
  ])
    assert.ok(!said.includes(form), form);
  assert.match(said, /the key is \[redacted KEY\]/);
});

test("a line of every kind follows the published schema", (t) => {
  const { trajectory, lines } = opened(t);
  const events: TrajectoryEvent[] = [
    { event: "wait", why: "rate-limit", durationMs: 5, frozenMs: 5, deadline: "2026-01-01T00:00:00.000Z" },
    {
      ...{ event: "wait", why: "provider", durationMs: 5, deadline: "2026-01-01T00:00:00.000Z" },
      ...{ frozenMs: 0, charged: "cannot-freeze" },
    } as TrajectoryEvent,
    { event: "message", by: "agent", role: "user", why: "prompt", text: "x".repeat(inlineMax + 1) },
    call,
    {
      ...{ event: "model-try", by: "agent", call: 2, try: 1, cause: "rate-limit", whose: "provider" },
      ...{ detail: "429", usage: null, dollars: null, waitMs: 1000 },
    } as TrajectoryEvent,
    { event: "tool-call", by: "agent", id: "1", name: "shell", input: "{}" },
    result("ok"),
    { event: "context-cut", by: "agent", messagesCut: 1, charactersCut: 5, messagesKept: 3 },
    { event: "note", by: "agent", text: "remember" },
    { event: "file-change", by: "agent", path: "train.py", digest: "0".repeat(64), bytes: 3 },
  ];
  for (const event of events) trajectory.add(event);
  const ajv = new Ajv({ strict: false });
  const valid = ajv.compile(trajectoryLine);
  for (const line of lines()) assert.ok(valid(line), `${line.event}: ${ajv.errorsText(valid.errors)}`);
  const { finish: _, ...unfinished } = lines()[3];
  assert.equal(valid(unfinished), false);
});

test("a chain of twenty thousand events verifies from end to end", async (t) => {
  const { trajectory, path, attachments } = opened(t, textRedactor({ KEY: "sk-1234567890abcdef" }));
  const text = "a line of output\n".repeat(40);
  for (let index = 0; index < 10_000; index++) {
    trajectory.add({ event: "tool-call", by: "agent", id: String(index), name: "shell", input: "{}" });
    trajectory.add(result(text));
  }
  const seal = trajectory.seal();
  assert.equal(seal.lines, 20_000);
  assert.equal((await verifyTrajectory(path, seal)).kind, "intact");
  assert.ok(!existsSync(attachments), "nothing of it was long");
});
