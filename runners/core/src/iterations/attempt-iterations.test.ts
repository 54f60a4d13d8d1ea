import assert from "node:assert/strict";
import { test } from "node:test";
import { type IterationsFile, iterationsFile } from "@mlrb/formats/attempt/iterations";
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
    { s: 11, end: "time-limit" },
  ]);
  assert.ok(found.iterations.length > 0 && found.ends.length > 0);
  assert.ok(valid(found), JSON.stringify(valid.errors));
});

test("the result for 100 000 events is no larger than for 25 000", () => {
  const size = (count: number) => {
    const reader = new ResearchReader();
    const round = events([
      { s: 1, tool: "edit_file", path: "train.py" },
      {
        s: 2,
        tool: "shell",
        command: "python train.py",
        took: 5,
        out: `{"dev_loss": 3} ${"x".repeat(1000)}`,
      },
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

test("runs, those that failed and those that measured are counted one by one", () => {
  const shell = (s: number, out: string, exit = 0) => ({
    ...{ s, tool: "shell", command: "python a.py", took: 1 },
    ...{ out, exit },
  });
  const { measures } = story([
    shell(1, '{"dev_accuracy": 0.5}'),
    shell(3, "torch.OutOfMemoryError: CUDA out of memory", 1),
    shell(5, '{"dev_accuracy": 0.5}', 1),
    shell(7, "accuracy: 0.7, by words"),
    { s: 9, end: "token-limit" },
  ]);
  assert.deepEqual(measures.runs, { ended: 4, failed: 2, measured: 1 });
  assert.deepEqual(measures.limits, ["token"]);
});

test("a program that is the whole agent is one run, with the limit that ended it", () => {
  const reader = new ResearchReader();
  const events = [
    exampleEvent("exec"),
    exampleEvent("output", { text: "{'eval_loss': 3.5}\n" }),
    exampleEvent("exec-end", { result: { kind: "signalled", over: { limit: "memory", detail: "" } } }),
  ];
  for (const [index, event] of events.entries()) reader.take({ ...event, index, sinceStartMs: index });
  const found = reader.end({ snapshots: [], final: false, endMs: 9, over: "memory" });
  assert(found.kind === "found");
  assert.deepEqual(found.measures.runs, { ended: 1, failed: 1, measured: 1 });
  assert.deepEqual(found.measures.limits, ["memory"]);
  assert.deepEqual(found.ends, [{ kind: "limit", detail: "it reached its memory limit", evidence: [2] }]);
});

const modelTry = (whose: string, waitMs: number | null) => ({
  ...{ s: 1, event: "model-try", by: "agent", cause: "rate-limit" },
  ...{ whose, waitMs },
});
const crashed = (result: object) => ({ s: 2, event: "exec-end", result });
const end = (ended: string) => ({ s: 3, end: ended });
const refused = { s: 1, says: "I can't help with that.", finish: "refusal" };

for (const [what, lines, details] of [
  ["a limit of its budget", [end("token-limit")], ["it reached its token limit"]],
  ["an exit code", [crashed({ kind: "exited", code: 3 })], ["its program ended with exit code 3"]],
  ["a signal", [crashed({ kind: "signalled", signal: "SIGSEGV" })], ["its program ended with a signal"]],
  ["its deadline", [crashed({ kind: "time-limit" }), end("time-limit")], ["it reached its time limit"]],
  ["a lost sandbox", [crashed({ kind: "lost", detail: "x" })], ["its sandbox ended"]],
  [
    "a call that was given up",
    [modelTry("provider", null), end("agent-error")],
    ["the last model call was given up: rate-limit (provider)"],
  ],
  ["a try that was repeated", [modelTry("provider", 1000), { s: 2, says: "hello" }], []],
  ["a call after one that was given up", [modelTry("provider", null), { s: 2, says: "hello" }], []],
  ["a refusal", [refused, end("refusal")], ["its model refused to go on"]],
  ["a refusal that it got over", [refused, end("submitted")], []],
  ["a model that stopped", [end("gave-up")], ["its model stopped without submitting"]],
  ["a silent model", [end("silent")], ["its model answered nothing"]],
  ["no submission", [{ s: 2, final: [] }, end("finished")], ["nothing was submitted"]],
  ["a submission", [{ s: 2, final: model }, end("finished")], []],
  [
    "words of the agent",
    [
      { s: 1, tool: "shell", command: "printenv", out: "the sandbox is gone; CUDA out of memory", exit: 1 },
      { s: 2, says: "The sandbox was lost, and I give up.", finish: "stop" },
      end("submitted"),
    ],
    [],
  ],
] as [string, Parameters<typeof story>[0], string[]][])
  test(`what ended an attempt is what its trajectory records: ${what}`, () => {
    const found = story(lines);
    assert.deepEqual(
      found.ends.map(({ detail }) => detail),
      details,
    );
    for (const { evidence } of found.ends) assert.ok(evidence.every((index) => index <= lines.length * 2));
  });

test("a submission that admission rejected is recorded as such", () => {
  const reader = new ResearchReader();
  for (const one of events([{ s: 2, final: model }, end("finished")])) reader.take(one);
  const found = reader.end({ snapshots: [], final: false, endMs: 9, over: undefined });
  assert(found.kind === "found");
  assert.deepEqual(
    found.ends.map(({ kind }) => kind),
    ["not-admitted"],
  );
});

const both = (member: string, lines: Parameters<typeof events>[0]) =>
  events(lines)
    .slice(1)
    .map((line) => ({ ...line, member }));

/** Lines of several members in the order of their times. */
function team(...members: Record<string, unknown>[][]): Extract<IterationsFile, { kind: "found" }> {
  const lines = [exampleEvent("start"), ...members.flat()].sort(
    (a, b) =>
      Number((a as { sinceStartMs?: number }).sinceStartMs ?? 0) -
      Number((b as { sinceStartMs?: number }).sinceStartMs ?? 0),
  );
  const found = attemptIterations(lines.map((line, index) => ({ ...line, index })));
  assert(found.kind === "found");
  assert.ok(valid(found), JSON.stringify(valid.errors));
  return found;
}

test("an iteration holds what one member did, though members work at once and name iterations alike", () => {
  const work = (s: number, value: number) => [
    { s, tool: "edit_file", path: "train.py" },
    { s: s + 1, tool: "shell", command: `python train.py ${value}`, took: 20, out: `{"dev_loss": ${value}}` },
    { s: s + 30, line: { id: "1", change: "c" } },
    { s: s + 32, line: { id: "2", parent: "1", change: "d" } },
  ];
  const { iterations, measures } = team(both("lead", work(1, 3)), both("coder", work(2, 4)));
  assert.deepEqual(
    iterations.map(({ id, member, parent, command }) => [id, member, parent, command]),
    [
      ["lead/1", "lead", null, "python train.py 3"],
      ["coder/1", "coder", null, "python train.py 4"],
      ["lead/2", "lead", "lead/1", null],
      ["coder/2", "coder", "coder/1", null],
    ],
  );
  assert.deepEqual([measures.executedIterations, measures.runs.ended], [2, 2]);
});

test("lines that programs write to the file of the whole team name no member, and each counts once", () => {
  const work = (s: number, value: number) => [
    { s, tool: "shell", command: `python train.py ${value}`, took: 20, out: `{"dev_loss": ${value}}` },
  ];
  const claim = (s: number, id: string) => ({ s, line: { id, change: "c" } });
  const lines = events([claim(30, "1"), claim(60, "2")]).slice(1);
  const { iterations, measures } = team(both("lead", work(1, 3)), both("coder", work(40, 4)), lines);
  assert.deepEqual(
    iterations.map(({ id, member, command }) => [id, member, command]),
    [
      ["1", undefined, "python train.py 3"],
      ["2", undefined, "python train.py 4"],
    ],
  );
  assert.equal(measures.executedIterations, 2);
});

test("a claim by the tool is its member's, though its line in the common file names none", () => {
  const claim = { id: "1", change: "c" };
  const tool = { s: 2, tool: "iteration", input: claim };
  const lines = events([{ s: 3, line: claim }]).slice(1);
  const { iterations } = team(both("lead", [tool]), both("coder", [{ ...tool, s: 4 }]), lines);
  assert.deepEqual(
    iterations.map(({ id }) => id),
    ["lead/1", "coder/1"],
  );
});

test("programs of a team without lines of their own have the iterations that its submissions show", () => {
  const program = (s: number) => [
    { s, exec: ["agent"] },
    { s: 90, event: "exec-end", result: { kind: "exited", code: 0 } },
  ];
  const handed = events([
    { s: 10, handed: model, digest: "1" },
    { s: 20, handed: model, digest: "2" },
  ]).slice(1);
  const { iterations } = team(both("lead", program(1)), both("coder", program(2)), handed);
  assert.deepEqual(
    iterations.map(({ id, member }) => [id, member]),
    [
      ["rule-1", undefined],
      ["rule-2", undefined],
    ],
  );
});

test("a crash names the member whose program crashed, and each member's program is a run of its own", () => {
  const program = (code: number, text: string) => [
    { s: 1, exec: ["agent"] },
    { s: 2, prints: text },
    { s: 3, event: "exec-end", result: { kind: "exited", code } },
  ];
  const { ends, measures } = team(
    both("lead", program(0, "{'eval_loss': 3.5}\n")),
    both("coder\u001b[2J", program(1, "none")),
  );
  assert.deepEqual(
    ends.map(({ detail }) => detail),
    ["the program of coder [2J ended with exit code 1"],
  );
  assert.deepEqual(measures.runs, { ended: 2, failed: 1, measured: 1 });
});
