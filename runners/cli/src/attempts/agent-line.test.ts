import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lastAgentLine } from "./agent-line.ts";

const line = (fields: object) => `${JSON.stringify({ formatVersion: 1, sinceStartMs: 1000, ...fields })}\n`;
const output = (text: string) => line({ event: "output", stream: "stdout", text });
const budget = line({ event: "budget", share: 0.5 });

function last(text: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "agent-line-"));
  try {
    writeFileSync(join(folder, "trajectory.jsonl"), text);
    return lastAgentLine(join(folder, "trajectory.jsonl"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("an agent's last line is the last that its program wrote, not what its supervisor notes later", () => {
  assert.equal(last(output("step 1\nstep 2\n\n") + budget), "step 2");
  assert.equal(last(output("10 %\r20 %") + budget), "20 %");
});

test("a model's last line is its last word, tool call or answer", () => {
  const call = {
    event: "tool-call",
    by: "solver",
    call: 1,
    id: "t",
    name: "bash",
    input: '{"command":"ls data"}',
  };
  assert.equal(last(output("old\n") + line(call)), "solver: bash ls data");
  assert.equal(
    last(line({ event: "note", by: "solver", text: "I train longer.\nThen I submit." })),
    "Then I submit.",
  );
});

test("a line that is being written is not read, and long lines hide nothing", () => {
  assert.equal(last(`${output("whole\n")}{"event":"outp`), "whole");
  assert.equal(
    last(output("early\n") + line({ event: "budget", share: 0.5, more: "x".repeat(300_000) })),
    "early",
  );
});

test("without a trajectory, or without an event of the agent, there is no line", () => {
  assert.equal(last(""), undefined);
  assert.equal(last(budget.repeat(100_000)), undefined);
  assert.equal(lastAgentLine("/nowhere/trajectory.jsonl"), undefined);
});

test("control sequences of an agent are removed", () => {
  assert.equal(last(output("\u001b[31mred\u001b[0m \u001b[2Jall\u0007\u202e\n")), "red all");
});

test("of a file that grows, each call reads its present end", () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-line-"));
  const path = join(folder, "trajectory.jsonl");
  for (let step = 1; step <= 3; step++) {
    appendFileSync(path, output(`step ${step}\n`));
    assert.equal(lastAgentLine(path), `step ${step}`);
  }
  rmSync(folder, { recursive: true });
});

test("the last line of a team names its member, and a message is one", () => {
  const member = "coder";
  assert.equal(last(line({ event: "output", stream: "stdout", member, text: "step 1\n" })), "[coder] step 1");
  const message = line({ event: "board", member, to: "all", purpose: "message", text: "I train." });
  assert.equal(last(message), "[coder] to all: I train.");
});
