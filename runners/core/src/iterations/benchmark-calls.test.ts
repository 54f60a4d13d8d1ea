import assert from "node:assert/strict";
import { test } from "node:test";
import type { BenchmarkCalls } from "@mlrb/formats/attempt/iterations";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { BenchmarkCallCounter } from "./benchmark-calls.ts";

const names = ["blimp", "nyu-mll/blimp", "mmlu"];

function counted(events: TrajectoryEvent[], known = names): BenchmarkCalls {
  const counter = new BenchmarkCallCounter(known);
  for (const event of events) counter.take(event);
  return counter.end();
}

const call = (input: unknown, name = "shell") =>
  exampleEvent("tool-call", { name, input: typeof input === "string" ? input : JSON.stringify(input) });

function isCounted(input: unknown, tool?: string): boolean {
  const found = counted([call(input, tool)]);
  assert.ok(found.kind === "counted");
  return found.calls === 1;
}

test("a call that fetches or runs the benchmark is counted once, with the names in it", () => {
  const events = [
    call({ command: "lm_eval --model hf --tasks blimp,mmlu; lm_eval --tasks BLiMP" }),
    call({ url: "https://huggingface.co/datasets/nyu-mll/blimp" }, "fetch_url"),
    call({ path: "get.py", text: "import datasets\ndatasets.load_dataset('cais/mmlu')" }, "write_file"),
    call({ command: "python train.py" }),
  ];
  assert.deepEqual(counted(events), {
    kind: "counted",
    calls: 3,
    names: ["blimp", "mmlu", "nyu-mll/blimp"],
  });
  assert.deepEqual(counted(events.slice(3)), { kind: "counted", calls: 0, names: [] });
});

test("a name is a whole word, in any case; a following subset does not hide it", () => {
  for (const text of [
    "blimp",
    "BLIMP",
    "blimp_anaphor_agreement",
    "'blimp'",
    "tasks=[blimp]",
    "a/blimp.jsonl",
  ])
    assert.ok(isCounted({ command: text }), text);
  for (const text of ["blimps", "goblimp", "blimp2", "éblimp", "bl imp"])
    assert.ok(!isCounted({ command: text }), text);
});

test("escapes of JSON and of strings in programs do not join a name to a letter", () => {
  assert.ok(isCounted({ code: "x = 1\nblimp = 2" }));
  assert.ok(isCounted({ code: 'print("\\nblimp")' }));
  assert.ok(isCounted('{"command":"nyu-mll\\/\\u0062limp"}'));
  assert.ok(!isCounted({ code: 'print("\\\\unblimp")' }));
});

test("notes, claims and delegated texts are words, not runs", () => {
  for (const tool of ["note", "iteration", "delegate", "submit", "return_result", "TodoWrite", "update_plan"])
    assert.ok(!isCounted({ text: "the score is BLiMP" }, tool), tool);
  assert.ok(isCounted({ text: "blimp" }, "note_shell"));
});

test("only the agent's own calls count: not the prompt, an answer's text or a program's output", () => {
  const said = [
    exampleEvent("message", { text: "You are scored on BLiMP." }),
    exampleEvent("model-call", { text: "I train for BLiMP.", toolCalls: [] }),
    exampleEvent("output", { text: "BLiMP" }),
    exampleEvent("tool-result", { text: "BLiMP" }),
  ];
  assert.deepEqual(counted([...said, call({ command: "ls" })]), { kind: "counted", calls: 0, names: [] });
  assert.deepEqual(counted(said), { kind: "not-measured", reason: "no-tool-calls" });
});

test("calls that a program's model asked for count where the supervisor carried out none", () => {
  const asked = exampleEvent("model-call", {
    toolCalls: [{ id: "a", name: "Bash", input: '{"command":"lm_eval --tasks blimp"}', malformed: false }],
  });
  assert.deepEqual(counted([asked]), { kind: "counted", calls: 1, names: ["blimp"] });
  assert.deepEqual(
    counted([asked, call({ command: "lm_eval --tasks blimp" })]),
    { kind: "counted", calls: 1, names: ["blimp"] },
    "one call, asked for and carried out",
  );
});

test("a benchmark without a public name is not measured", () => {
  assert.deepEqual(counted([call({ command: "blimp" })], []), {
    kind: "not-measured",
    reason: "no-public-names",
  });
});

test("a name is text, not a pattern", () => {
  const found = counted([call({ command: "axb" })], ["a.b"]);
  assert.deepEqual(found, { kind: "counted", calls: 0, names: [] });
});

test("at most 65 536 characters of a call are searched", () => {
  assert.ok(isCounted(`${" ".repeat(65_531)}blimp`));
  assert.ok(!isCounted(`${" ".repeat(65_532)}blimp`));
});

test("calls of a member that is a program count beside those of a member whose tools the supervisor runs", () => {
  const asked = { id: "1", name: "bash", input: '{"cmd":"lm_eval --tasks blimp"}', malformed: false };
  const events = [
    { ...call({ command: "python train.py" }), member: "lead" },
    exampleEvent("model-call", { member: "lead", toolCalls: [asked] }), // carried out, so counted once
    exampleEvent("model-call", { member: "coder", by: "program", toolCalls: [asked, asked] }),
    { ...call({ to: "coder", text: "Run blimp." }, "send_message"), member: "lead" },
  ];
  assert.deepEqual(counted(events), { kind: "counted", calls: 2, names: ["blimp"] });
});
