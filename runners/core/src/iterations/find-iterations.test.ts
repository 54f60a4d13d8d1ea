import assert from "node:assert/strict";
import { test } from "node:test";
import { events, model, story } from "./testing/story.ts";

const train = (s: number, more: object = {}) => ({
  s,
  tool: "shell",
  command: "python train.py",
  took: 10,
  out: '{"dev_loss": 3.0}',
  ...more,
});
const edit = (s: number) => ({ s, tool: "edit_file", path: "train.py" });
const exec = { s: 0, exec: ["agent"] };
const line = (s: number, id: unknown, more: object = {}) => ({ s, line: { id, change: "c", ...more } });

const shapes = (found: ReturnType<typeof story>) =>
  found.iterations.map(({ id, source, executed, changed }) => [id, source, executed, changed]);

test("each change of files followed by training is an iteration by rule, with the measured value", () => {
  const found = story([edit(1), train(2), edit(20), train(21, { out: '{"dev_loss": 2.5}' })]);
  assert.deepEqual(shapes(found), [
    ["rule-1", "rule", true, true],
    ["rule-2", "rule", true, true],
  ]);
  assert.deepEqual(
    found.iterations.map(({ metric }) => metric),
    [
      { name: "loss", split: "dev", value: 3 },
      { name: "loss", split: "dev", value: 2.5 },
    ],
  );
});

test("the same command without a change continues its iteration, whatever it measures", () => {
  const again = (value: number, s: number) => train(s, { out: `{"dev_loss": ${value}}` });
  const { iterations } = story([edit(1), again(3, 2), again(2.9, 30), again(2.8, 60)]);
  assert.deepEqual(
    iterations.map(({ metric }) => metric?.value),
    [2.8],
  );
});

test("another command is another iteration if it measures the same with another result, and no change is needed", () => {
  const run = (s: number, command: string, out: string) => train(s, { command, out });
  const counted = (...out: string[]) =>
    story(out.map((text, at) => run(20 * at, `python run.py --flag ${at}`, text))).iterations.length;
  assert.equal(counted('{"dev_loss": 3}', '{"dev_loss": 2}', '{"dev_loss": 1}'), 3);
  assert.equal(counted('{"dev_loss": 3}', '{"dev_loss": 3}'), 1, "a file that is printed again");
  assert.equal(counted('{"dev_loss": 3}', '{"dev_accuracy": 0.5}'), 1, "another measure of the same");
  assert.equal(counted("{'loss': 3, 'learning_rate': 1}", "{'loss': 2, 'learning_rate': 1}"), 0, "training");
  assert.equal(counted("done", "done"), 0);
});

test("a copy, a move or a listing between an experiment and its line does not part them", () => {
  for (const command of ["cp -r out/. submission/", "mv out submission", "ls", "echo done > notes.txt"]) {
    const found = story([edit(1), train(2), train(20, { command, out: "" }), line(40, "mine")]);
    assert.deepEqual(shapes(found), [["mine", "agent", true, true]], command);
    assert.equal(found.measures.executedIterations, 1);
  }
});

test("failed runs and the successful one after them are one iteration, and reading files is none", () => {
  const found = story([
    edit(1),
    train(2, { exit: 1, out: "NameError: name 'np' is not defined" }),
    edit(20),
    train(21),
    { s: 40, tool: "shell", command: "cat train.py", took: 1, out: "accuracy 0.9" },
  ]);
  assert.equal(found.iterations.length, 1);
});

test("an agent's line describes the experiment before it, and one without a run does not count", () => {
  const found = story([
    edit(1),
    train(2),
    line(13, "mine", { metric: { name: "loss", split: "dev", value: 3 } }),
    line(14, "more"),
  ]);
  assert.deepEqual(shapes(found), [
    ["mine", "agent", true, true],
    ["more", "agent", false, false],
  ]);
  assert.equal(found.measures.executedIterations, 1);
});

test("for a program without seen tools, a line counts if its submission changed", () => {
  const found = story([
    exec,
    line(5, "a"),
    { s: 6, handed: model, digest: "1" },
    line(9, "b"),
    { s: 10, exit: 0 },
  ]);
  assert.deepEqual(shapes(found), [
    ["a", "agent", true, true],
    ["b", "agent", true, false],
  ]);
});

test("without lines of such a program, each changed submission is an iteration by rule", () => {
  const found = story([
    exec,
    { s: 5, handed: model, digest: "1" },
    { s: 6, handed: model, digest: "2" },
    { s: 7, final: model, digest: "2" },
    { s: 8, exit: 0 },
  ]);
  assert.deepEqual(shapes(found), [
    ["rule-1", "rule", true, true],
    ["rule-2", "rule", true, true],
  ]);
});

test("repeated ids are made distinct, and a parent is an earlier iteration", () => {
  const found = story([
    exec,
    line(1, "a", { parent: "b" }),
    line(2, "b", { parent: "a" }),
    line(3, "a", { parent: "a" }),
    line(4, "c", { parent: "c" }),
  ]);
  assert.deepEqual(
    found.iterations.map(({ id, parent }) => [id, parent]),
    [
      ["a", null],
      ["b", "a"],
      ["a~3", "a"],
      ["c", null],
    ],
  );
});

test("3000 lines of one id give 2000 iterations with distinct ids, and the rest are counted", () => {
  const found = story([exec, ...Array.from({ length: 3000 }, (_, at) => line(at, "same"))]);
  assert.equal(new Set(found.iterations.map(({ id }) => id)).size, 2000);
  assert.equal(found.iterationsMore, 1000);
});

test("the cost of model calls belongs to the next iteration and is unknown if one call has no price", () => {
  const call = (s: number, dollars: number | null) => ({
    s,
    event: "model-call",
    by: "agent",
    text: "",
    toolCalls: [],
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: null, reasoningTokens: null },
    dollars,
  });
  const tool = (s: number, name: string, input: object, out: string) => [
    { s, event: "tool-call", by: "agent", id: `${s}`, name, input: JSON.stringify(input) },
    {
      s,
      event: "tool-result",
      by: "agent",
      id: `${s}`,
      name,
      outcome: "done",
      text: out,
      executed: "command" in input,
    },
  ];
  const round = (s: number, dollars: number | null) => [
    call(s, dollars),
    ...tool(s + 1, "edit_file", { path: "train.py" }, ""),
    ...tool(s + 2, "shell", { command: "python train.py" }, '{"dev_loss": 3}'),
  ];
  const { iterations } = story([...round(1, 0.5), ...round(10, null)]);
  assert.deepEqual(
    iterations.map(({ cost }) => [cost.tokens, cost.dollars]),
    [
      [15, 0.5],
      [15, null],
    ],
  );
});

test("a result without a call, or a call without a result, is not a run", () => {
  const whole = events([edit(1), train(2)]);
  const without = (kind: string) =>
    whole.filter(
      ({ event, executed, input }) => event !== kind || !(executed ?? String(input).includes("command")),
    );
  for (const kind of ["tool-call", "tool-result"]) {
    const lines = without(kind) as (Record<string, unknown> & { s: number })[];
    assert.equal(story(lines.slice(1).map((each) => ({ ...each, s: 1 }))).iterations.length, 0, kind);
  }
});

test("a line from the tool counts when the tool is called, and not again when it is read later", () => {
  const claim = (id: string) => ({ id, change: "c", metric: { name: "loss", split: "dev", value: 3 } });
  const found = story([
    edit(1),
    train(2),
    { s: 14, tool: "iteration", input: claim("a") },
    edit(20),
    train(21, { out: '{"dev_loss": 2.5}' }),
    { s: 33, line: claim("a") },
    {
      s: 34,
      tool: "iteration",
      input: { ...claim("b"), metric: { name: "loss", split: "dev", value: 2.5 } },
    },
    { s: 35, line: claim("b") },
    { s: 36, line: claim("a") },
  ]);
  assert.deepEqual(
    found.iterations.map(({ id, counts }) => [id, counts]),
    [
      ["a", true],
      ["b", true],
      ["a~3", false],
    ],
  );
});
