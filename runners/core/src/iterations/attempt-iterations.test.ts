import assert from "node:assert/strict";
import { test } from "node:test";
import { iterationsFile } from "@mlrb/formats/attempt/iterations";
import { eventNames, exampleEvent } from "@mlrb/formats/testing/example-event";
import { Ajv } from "ajv";
import fc from "fast-check";
import { ResearchReader } from "./attempt-iterations.ts";
import { attemptIterations, events, model, story } from "./testing/story.ts";

const valid = new Ajv({ strict: false }).compile(iterationsFile);

const fields = [
  "text",
  "line",
  "input",
  "id",
  "by",
  "name",
  "result",
  "usage",
  "toolCalls",
  "files",
  "digest",
  "gone",
  "exit",
];

test("any lines of a trajectory give a result that follows its schema", () => {
  const line = fc
    .tuple(
      fc.constantFrom(...eventNames),
      fc.dictionary(
        fc.constantFrom(...fields, "index", "sinceStartMs", "executed", "outcome"),
        fc.oneof(fc.jsonValue(), fc.string()),
      ),
    )
    .map(([event, rest]) => ({ ...exampleEvent(event), ...rest }));
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.jsonValue()), { maxLength: 40 }), (lines) => {
      const found = attemptIterations(lines);
      assert.ok(valid(found), JSON.stringify(valid.errors));
    }),
  );
});

test("arguments of a tool that cannot become a text are left out of its command", () => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  for (const input of [`{"command":[${deep},"ls"]}`, '{"command":[{"toString":1},"ls"]}'])
    assert.ok(valid(attemptIterations([exampleEvent("tool-call", { input }), exampleEvent("tool-result")])));
});

test("the result of a realistic trajectory follows its schema", () => {
  const found = story([
    { s: 1, tool: "edit_file", path: "train.py" },
    { s: 2, tool: "shell", command: "python train.py", took: 5, out: "dev loss nan", exit: 1 },
    { s: 10, line: { id: "a", change: "c", metric: { name: "loss", value: 2 }, predicted: 1 } },
  ]);
  assert.ok(found.iterations[0]!.failure && found.failure);
  assert.ok(valid(found), JSON.stringify(valid.errors));
});

test("the result for 100 000 events is no larger than for 25 000", () => {
  const size = (count: number) => {
    const reader = new ResearchReader();
    const round = events([
      { s: 1, tool: "edit_file", path: "train.py" },
      { s: 2, tool: "shell", command: "python train.py", took: 5, out: `dev loss 3 ${"x".repeat(1000)}` },
      { s: 8, tool: "shell", command: "python train.py --broken", took: 5, exit: 1, out: "Error: x" },
    ]).slice(1);
    for (let index = 0; index < count; index++)
      reader.take({ ...round[index % round.length], index, sinceStartMs: index });
    return JSON.stringify(reader.end()).length;
  };
  const [small, large] = [size(25_000), size(100_000)];
  assert.ok(large < 1.2 * small, `${small} and ${large} characters`);
});

test("the first valid snapshot is the first admitted one, not the first with a file", () => {
  const lines = events([
    { s: 5, handed: ["notes.txt"], digest: "1" },
    { s: 9, handed: model, digest: "2" },
  ]);
  const end = (judged?: Parameters<ResearchReader["end"]>[0]) => {
    const reader = new ResearchReader();
    for (const line of lines) reader.take(line);
    const found = reader.end(judged);
    return found.kind === "found" && [found.measures.firstValidMs, found.measures.firstValidBy];
  };
  const snapshot = (name: string, sinceStartMs: number, admitted: boolean) => ({
    name,
    digest: name,
    sinceStartMs,
    admitted,
  });
  const ended = { endMs: 9500, over: undefined };
  assert.deepEqual(end(), [5000, "has-a-file"]);
  assert.deepEqual(
    end({ snapshots: [snapshot("1", 5000, false), snapshot("2", 9000, true)], final: true, ...ended }),
    [9000, "admitted"],
  );
  assert.deepEqual(
    end({ snapshots: [], final: true, ...ended }),
    [9000, "admitted"],
    "only what was handed in at the end",
  );
  assert.deepEqual(end({ snapshots: [snapshot("1", 5000, false)], final: false, ...ended }), [
    null,
    "admitted",
  ]);
});

test("predictions are compared with the claimed values of the iterations that have both", () => {
  const line = (s: number, value: number, predicted?: unknown) => ({
    s,
    line: { id: s, change: "c", metric: { name: "acc", split: "dev", value }, predicted },
  });
  const found = story([
    { s: 0, exec: ["agent"] },
    line(1, 0.5, 0.6),
    { s: 2, handed: model, digest: "1" },
    line(3, 0.7, 0.4),
    { s: 4, handed: model, digest: "2" },
    line(5, 0.8, "much"),
    { s: 6, handed: model, digest: "3" },
  ]);
  assert.equal(found.measures.predictions, 2);
  assert.ok(Math.abs(found.measures.predictionError! - 0.2) < 1e-9);
  assert.deepEqual(
    found.measures.values.map(({ value }) => value),
    [0.5, 0.7, 0.8],
  );
});

test("the first valid time is at most the agent's end, however late its supervisor copied the submission", () => {
  const firstValid = (
    snapshots: { name: string; sinceStartMs: number; admitted: boolean }[],
    final: boolean,
  ) => {
    const reader = new ResearchReader();
    reader.take({ ...exampleEvent("start"), index: 0, sinceStartMs: 0 });
    reader.take({ ...exampleEvent("snapshot", { name: "final" }), index: 1, sinceStartMs: 9_500 });
    reader.take({ ...exampleEvent("end"), index: 2, sinceStartMs: 9_600 });
    const found = reader.end({
      snapshots: snapshots.map((one) => ({ ...one, digest: one.name })),
      final,
      endMs: 9_000,
      over: undefined,
    });
    assert(found.kind === "found");
    return found.measures.firstValidMs;
  };
  assert.equal(firstValid([], true), 9_000);
  assert.equal(firstValid([{ name: "0001", sinceStartMs: 9_200, admitted: true }], true), 9_000);
  assert.equal(firstValid([{ name: "0001", sinceStartMs: 4_000, admitted: true }], true), 4_000);
  assert.equal(firstValid([], false), null);
});

test("equal submissions among the snapshots count once as valid", () => {
  const reader = new ResearchReader();
  const last = exampleEvent("snapshot", { name: "final" });
  assert(last.event === "snapshot");
  reader.take({ ...last, index: 1, sinceStartMs: 9 });
  const snapshots = ["a", "a", "bad", last.digest].map((digest, at) => ({
    name: String(at),
    digest,
    sinceStartMs: at,
    admitted: digest !== "bad",
  }));
  const found = reader.end({ snapshots, final: true, endMs: 9, over: undefined });
  assert.equal(found.kind === "found" && found.measures.distinctValid, 2);
});

test("runs, their failures, their evaluations and a lack of memory are counted one by one", () => {
  const shell = (s: number, out: string, exit = 0) => ({
    s,
    tool: "shell",
    command: "python a.py",
    took: 1,
    out,
    exit,
  });
  const { measures } = story([
    shell(1, "dev accuracy: 0.5"),
    shell(3, "torch.OutOfMemoryError: CUDA out of memory", 1),
    shell(5, "TypeError", 1),
    shell(7, "wrote config"),
    { s: 9, end: "token-limit" },
  ]);
  assert.deepEqual(measures.runs, { ended: 4, failed: 2, evaluations: 1, outOfMemory: 1 });
  assert.deepEqual(measures.limits, ["token"]);
});

test("a program that is the whole agent is one run, with the limit that ended it", () => {
  const reader = new ResearchReader();
  const events = [
    exampleEvent("exec"),
    exampleEvent("output", { text: "dev accuracy: 0.5\n" }),
    exampleEvent("exec-end", { result: { kind: "signaled", over: { limit: "memory", detail: "" } } }),
  ];
  for (const [index, event] of events.entries()) reader.take({ ...event, index, sinceStartMs: index });
  const found = reader.end({ snapshots: [], final: false, endMs: 9, over: "memory" });
  assert(found.kind === "found");
  assert.deepEqual(found.measures.runs, { ended: 1, failed: 1, evaluations: 1, outOfMemory: 1 });
  assert.deepEqual(found.measures.limits, ["memory"]);
});
