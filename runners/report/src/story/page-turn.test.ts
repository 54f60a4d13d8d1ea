import assert from "node:assert/strict";
import { test } from "node:test";
import { toolWords } from "./event-words.ts";
import { pageTurn } from "./page-turn.ts";

const result = {
  event: "tool-result",
  by: "agent",
  id: "1",
  name: "shell",
  outcome: "done",
  exit: { code: 1 },
  text: "no such file",
  rest: null,
  durationMs: 2000,
  executed: true,
} as const;

test("a result is shown with the command that its call gave, and a failed program is marked", () => {
  const turn = pageTurn(result, new Map([["1", '{"command":"ls x"}']]));
  assert.deepEqual(turn, {
    kind: "tool",
    by: "agent",
    name: "shell",
    input: { kind: "command", text: "ls x" },
    facts: "done, exit 1, 2.0 s",
    bad: true,
    output: "no such file",
  });
});

test("a call that writes or edits a file is shown by its changed lines", () => {
  const inputOf = (input: object) => {
    const turn = pageTurn(result, new Map([["1", JSON.stringify(input)]]));
    return turn?.kind === "tool" && turn.input;
  };
  assert.deepEqual(inputOf({ path: "a.py", old: "x", new: "y" }), {
    kind: "file",
    path: "a.py",
    changes: [
      { kind: "gone", text: "x" },
      { kind: "new", text: "y" },
    ],
  });
  assert.deepEqual(inputOf({ path: "a.py", text: "z" }), {
    kind: "file",
    path: "a.py",
    changes: [{ kind: "new", text: "z" }],
  });
  assert.deepEqual(inputOf({ path: "a.py" }), { kind: "command", text: "a.py" });
  assert.deepEqual(inputOf({ path: { toString: 1 }, text: [] }), {
    kind: "command",
    text: '{"path":{"toString":1},"text":[]}',
  });
});

test("a call with any other field is shown whole, so that no command hides in a write", () => {
  for (const input of [
    { path: "notes.txt", text: "hello", command: "cat /data/private" },
    { path: "a.py", old: "x", new: "y", text: "z" },
    { path: "a.py", text: "z", mode: 7 },
    { command: "ls x", timeoutSeconds: 5 },
    { command: "ls", nested: { also: "rm" } },
  ]) {
    const json = JSON.stringify(input);
    const turn = pageTurn(result, new Map([["1", json]]));
    assert.ok(turn?.kind === "tool");
    assert.deepEqual(turn.input, { kind: "command", text: json });
    assert.equal(toolWords("bash", json), `bash ${json}`);
  }
});

test("a message in a provider's JSON is shown by its text, and anything else as it is", () => {
  const part = (text: string) =>
    pageTurn(
      {
        event: "request-part",
        by: "program",
        call: 1,
        part: "message",
        place: 0,
        role: "user",
        digest: "0".repeat(64),
        text,
      },
      new Map(),
    );
  const textOf = (text: string) => {
    const turn = part(text);
    return turn?.kind === "message" && turn.text;
  };
  assert.equal(textOf('{"role":"user","content":"train it"}'), "train it");
  assert.equal(
    textOf('{"content":[{"type":"text","text":"one"},null,{"type":"image"},{"text":"two"}]}'),
    "one\ntwo",
  );
  assert.equal(textOf("[1,"), "[1,");
});

test("an answer names only the tool calls that have no event of their own", () => {
  const call = { name: "shell", input: '{"command":"ls"}', malformed: false };
  const answer = {
    event: "model-call",
    call: 1,
    by: "agent",
    provider: "p",
    model: "m",
    answeredBy: null,
    requestDigest: "0".repeat(64),
    messages: 1,
    text: "I look.",
    reasoning: "first the files",
    toolCalls: [
      { id: "1", ...call },
      { id: "2", ...call, name: "lost" },
    ],
    finish: "tool-calls",
    usage: null,
    dollars: null,
    durationMs: 1000,
    tries: 1,
  } as const;
  const turn = pageTurn({ ...answer, toolCalls: [...answer.toolCalls] }, new Map([["1", "{}"]]));
  assert.ok(turn?.kind === "answer");
  assert.equal(turn.text, "I look.");
  assert.equal(turn.reasoning, "first the files");
  assert.match(turn.facts, /tool call: lost ls/);
  assert.doesNotMatch(turn.facts, /tool call: shell/);
});

test("events that are not of a conversation have no turn", () => {
  assert.equal(pageTurn({ event: "budget", share: 0.5 }, new Map()), undefined);
});
