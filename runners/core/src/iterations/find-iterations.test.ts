import assert from "node:assert/strict";
import { test } from "node:test";
import { events, model, story } from "./testing/story.ts";

const train = (s: number, more: object = {}) => ({
  s,
  tool: "shell",
  command: "python train.py",
  took: 10,
  out: "dev loss 3.0",
  ...more,
});
const edit = (s: number) => ({ s, tool: "edit_file", path: "train.py" });
const exec = { s: 0, exec: ["agent"] };
const line = (s: number, id: unknown, more: object = {}) => ({ s, line: { id, change: "c", ...more } });

const shapes = (found: ReturnType<typeof story>) =>
  found.iterations.map(({ id, source, executed, changed }) => [id, source, executed, changed]);

test("each change of files followed by training is an iteration by rule, with the printed value", () => {
  const found = story([edit(1), train(2), edit(20), train(21, { out: "dev loss 2.5" })]);
  assert.deepEqual(shapes(found), [
    ["rule-1", "rule", true, true],
    ["rule-2", "rule", true, true],
  ]);
  assert.deepEqual(
    found.iterations.map(({ metric, measured }) => [metric, measured]),
    [
      [{ name: "loss", split: "dev", value: 3 }, 3],
      [{ name: "loss", split: "dev", value: 2.5 }, 2.5],
    ],
  );
});

test("training again without a change is not an iteration", () => {
  assert.equal(story([edit(1), train(2), train(30), train(60)]).iterations.length, 1);
  assert.equal(story([train(2)]).iterations.length, 0, "nothing changed at all");
});

test("other arguments are another experiment once the submission changes", () => {
  const found = story([
    edit(1),
    train(2, { command: "python train.py --lr 1" }),
    train(30, { command: "python train.py --lr 2" }),
    { s: 41, handed: model, digest: "d" },
  ]);
  assert.equal(found.iterations.length, 2);
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
  assert.equal(found.iterations[0]!.failure, null, "it got over it");
});

test("an agent's line describes the experiment before it, and one without a run is only a claim", () => {
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
  assert.equal(found.iterations[0]!.measured, 3);
  assert.deepEqual([found.measures.executedIterations, found.measures.claimedOnly], [1, 1]);
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
    ...tool(s + 2, "shell", { command: "python train.py" }, "dev loss 3"),
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
    train(21, { out: "dev loss 2.5" }),
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
    found.iterations.map(({ id, counts, measured }) => [id, counts, measured]),
    [
      ["a", true, 3],
      ["b", true, 2.5],
      ["a~3", false, null],
    ],
  );
});

for (const [split, measured] of [
  ["dev", 3],
  ["test", 4],
  ["validation", null],
  [null, 4],
] as const)
  test(`a claim without a value about ${split ?? "no split"} is measured by what was printed for that split`, () => {
    const found = story([
      edit(1),
      train(2, { out: "dev loss 3.0\ntest loss 4.0" }),
      line(13, "mine", { metric: { name: "Loss", split, value: null } }),
    ]);
    assert.equal(found.iterations[0]!.measured, measured);
  });
