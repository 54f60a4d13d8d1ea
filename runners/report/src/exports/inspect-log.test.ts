// Inspect AI itself reads the log. A log that it refuses fails the test; fields that it silently drops are found
// by comparing ours with the log that it writes again.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import {
  everyEvent,
  exampleAttempt,
  exampleScore,
  modelCall,
  teamEvents,
} from "../testing/attempt-example.ts";
import { exportReader, readBack } from "../testing/export-reader.ts";
import { inspectLinkProblems } from "../testing/parent-links.ts";
import type { AttemptSource } from "./attempt-source.ts";
import { inspectLog } from "./inspect-log.ts";

const { python, skip } = await exportReader();
const folder = mkdtempSync(join(tmpdir(), "mlrb-inspect-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "log.json");

// biome-ignore lint/suspicious/noExplicitAny: the log is another project's format
type Any = any;

// messages are pooled in the file, and are in the events after reading
const rewrite = `
import json, sys
from inspect_ai.event import event_tree
from inspect_ai.log import read_eval_log, write_eval_log
found = []
for path in sys.argv[1:]:
    write_eval_log(read_eval_log(path), path + ".json")
    resolved = read_eval_log(path, resolve_attachments="full")
    tree = event_tree(resolved.samples[0].events)
    agents = [one.name for one in tree if getattr(one, "type", None) == "agent"]
    found.append({"agents": agents, "again": json.load(open(path + ".json")), "resolved": json.loads(resolved.model_dump_json(exclude_none=True))})
print(json.dumps(found))
`;

/** Writes the log and returns it. */
function written(source: AttemptSource, path = file): Any {
  const text = [...inspectLog([source])].join("");
  writeFileSync(path, text);
  return JSON.parse(text);
}

/** The log as Inspect writes it again, and with its attachments resolved. */
function readByInspect(...paths: string[]): { agents: string[]; again: Any; resolved: Any }[] {
  return readBack(python!, rewrite, paths) as Any;
}

/** Every field of `ours` that is missing or different in `theirs`. */
function lost(ours: Any, theirs: Any, path = ""): string[] {
  if (typeof ours !== "object" || ours === null)
    return Object.is(ours, theirs)
      ? []
      : [`${path}: ${JSON.stringify(ours)} became ${JSON.stringify(theirs)}`];
  if (typeof theirs !== "object" || theirs === null) return [`${path} is gone`];
  if (Array.isArray(ours) && ours.length !== theirs.length)
    return [`${path}: ${ours.length} became ${theirs.length}`];
  return Object.entries(ours).flatMap(([name, value]) => lost(value, theirs[name], `${path}/${name}`));
}

/** The writer pools messages again, so they are compared with resolved references. */
function withoutPool(log: Any): Any {
  const [{ events_data: _, events, ...sample }] = log.samples;
  const own = events.map(({ input, input_refs: refs, ...event }: Any) =>
    refs === undefined && input !== undefined ? { input, ...event } : event,
  );
  return { ...log, samples: [{ ...sample, events: own }] };
}

const attachments = new Map<string, string>();
const whole = () =>
  exampleAttempt(after, everyEvent(attachments), {
    attachments,
    ledger: { read: exampleLedger({ ended: "time-limit" }) },
    scores: {
      verdict: "pass",
      primary: "loss",
      final: [
        exampleScore("loss"),
        { ...exampleScore("accuracy"), kind: "rejected", reason: "no model" } as never,
        { ...exampleScore("memory"), kind: "not-measured", cause: "no room" } as never,
      ],
      checkpoints: [{ checkpoint: "25%", atMs: 9000, scores: [exampleScore("loss", { value: 3.5 })] }],
    },
  });

test("an attempt with every kind of event loses no field when Inspect reads and writes its log", {
  skip,
}, () => {
  const ours = written(whole());
  const { again, resolved } = readByInspect(file)[0]!;
  const [sample] = ours.samples;
  const { events_data: pool } = sample;
  assert.deepEqual(lost(withoutPool(ours), again), []);
  const calls = resolved.samples[0].events.filter((event: Any) => event.event === "model");
  assert.equal(calls.length, 4);
  assert.deepEqual(
    calls.map(({ input }: Any) => input.map(({ role }: Any) => role)),
    [
      ["system", "user"],
      ["user"],
      ["user", "assistant", "tool"],
      ["system", "user", "assistant", "tool", "tool", "user"],
    ],
  );
  assert.equal(pool.messages.length, 11);
  assert.equal(sample.input, "Train a model. ".repeat(200), "Inspect's pages follow no reference here");
  assert.equal(calls[0].input[1].content, "Train a model. ".repeat(200));
});

test("overlapping waits reduce the working time once, as the deadline moved", () => {
  const first = Date.UTC(2026, 0, 2, 4);
  const start = exampleEvent("start", { task: "words", deadline: new Date(first).toISOString() });
  const wait = (durationMs: number, movedMs: number) => ({
    ...{ event: "wait", why: "rate-limit", durationMs, frozenMs: durationMs },
    deadline: new Date(first + movedMs).toISOString(),
  });
  const events = [start, wait(3000, 3000), wait(3000, 4000), { event: "budget", share: 0.5 }];
  const [sample] = written(exampleAttempt(after, events as never, { stepMs: 10_000 })).samples;
  const at = sample.events.map(({ timestamp, working_start: working }: Any) => [timestamp, working]);
  const [[begin]] = at;
  const [end, working] = at.at(-1);
  assert.equal((Date.parse(end) - Date.parse(begin)) / 1000 - working, 4);
});

test("iterations become spans, workers agents, checkpoints intermediate scores, and a limit a limit", {
  skip,
}, () => {
  written(whole());
  const [sample] = readByInspect(file)[0]!.resolved.samples;
  const spans = sample.events.filter(({ event }: Any) => event === "span_begin");
  assert.deepEqual(
    spans.map(({ name, type, parent_id: parent }: Any) => [name, type, parent]),
    [
      ["first", "iteration", undefined],
      ["worker-1", "agent", "iteration-1"],
    ],
  );
  const reported = sample.events.find(
    ({ event, data }: Any) => event === "info" && data.event === "iteration",
  );
  assert.equal(reported.span_id, "iteration-1");
  assert.equal(reported.source, "mlrb");
  assert.equal(JSON.parse(reported.data.line).decision, "keep");
  const scores = sample.events.filter(({ event }: Any) => event === "score");
  assert.deepEqual(
    scores.map(({ score, intermediate, scorer }: Any) => [scorer, score.value, intermediate]),
    [
      ["loss", 3.5, true],
      ["loss", 2.5, false],
      ["accuracy", "rejected", false],
    ],
  );
  assert.equal(scores[0].score.metadata.checkpoint, "25%");
  assert.deepEqual([sample.limit.type, sample.limit.limit], ["working", 600]);
  assert.equal(sample.events.find(({ event }: Any) => event === "sample_limit").limit, 600);
  assert.deepEqual([sample.total_time, sample.working_time], [61, 58]);
  assert.equal(sample.model_usage["openai/gpt-4o-2024-08-06"].input_tokens, 60);
  assert.equal(
    "total_cost" in sample.model_usage["anthropic/claude-3-5-sonnet-20241022"],
    false,
    "unknown is not 0",
  );
  const tools = sample.events.filter(({ event }: Any) => event === "tool");
  assert.deepEqual(
    tools.map(({ function: name, error, pending }: Any) => [name, error?.type, pending]),
    [
      ["shell", "parsing", undefined],
      ["shell", undefined, undefined],
      ["delegate", undefined, undefined],
      ["shell", undefined, true],
    ],
  );
  assert.equal(tools[1].result, "step ".repeat(9000));
});

const nop: TrajectoryEvent[] = [
  exampleEvent("start", { kind: "nop", promptDigest: "aa" }),
  exampleEvent("end", { ended: "finished" }),
];
const program: TrajectoryEvent[] = [
  exampleEvent("start", { kind: "command" }),
  { event: "exec", argv: ["python", "agent.py"] },
  { event: "output", stream: "stdout", text: "\u001b[2Jhello \u0000\ud800" },
  { event: "exec-end", result: { kind: "exited", code: 1 } },
  exampleEvent("end", { ended: "agent-error" }),
];
const odd: [title: string, status: string, source: AttemptSource][] = [
  ["of an agent that does nothing", "success", exampleAttempt(after, nop)],
  [
    "of a program without any model call",
    "success",
    exampleAttempt(after, program, {
      ledger: { read: exampleLedger({ ended: "agent-error", exit: { code: 1 } }) },
    }),
  ],
  [
    "cut off in the middle of a line",
    "error",
    exampleAttempt(after, program.slice(0, 3), {
      tail: '{"event":',
      ledger: { read: null, why: "it has no ledger" },
    }),
  ],
  ["without its end", "error", exampleAttempt(after, program.slice(0, 4))],
  [
    "that is running",
    "started",
    exampleAttempt(after, program.slice(0, 3), {
      state: "running",
      ledger: { read: null, why: "it has no ledger yet" },
    }),
  ],
  ["that was lost", "error", exampleAttempt(after, program, { state: "lost" })],
  ["of a team", "success", exampleAttempt(after, teamEvents())],
  ["without any line", "error", exampleAttempt(after, [])],
  [
    "with unknown events",
    "success",
    exampleAttempt(after, [
      ...nop.slice(0, 1),
      { event: "dream", of: [1] } as never,
      { event: "model-call", usage: "none" } as never,
      ...nop.slice(1),
    ]),
  ],
];

test("Inspect reads attempts of every kind and state whole, each with its status", { skip }, () => {
  const paths = odd.map((_, at) => join(folder, `${at}.json`));
  const ours = odd.map(([, , source], at) => written(source, paths[at]));
  for (const [at, { again, agents }] of readByInspect(...paths).entries()) {
    const [title, status] = odd[at]!;
    assert.deepEqual(agents, title === "of a team" ? ["lead", "coder", "checker"] : [], title);
    assert.equal(ours[at].status, status, title);
    assert.deepEqual(lost(withoutPool(ours[at]), again), [], title);
    assert.equal(ours[at].error === undefined, status !== "error", title);
  }
});

const hostile = { lead: "lead\u001b[2J</script>, \u202e", text: `\u001b]0;title\u0007${"x".repeat(16_000)}` };

test("each parent of a log is an earlier event, and each event of a member lies in its span", () => {
  const restarted = [
    ...nop.slice(0, 1),
    modelCall(1),
    exampleEvent("resumed"),
    modelCall(2, { by: "worker-1" }),
  ];
  const sources = [
    whole(),
    exampleAttempt(after, restarted),
    exampleAttempt(after, teamEvents()),
    exampleAttempt(after, teamEvents(hostile)),
    exampleAttempt(after, teamEvents().slice(9)), // of members whose start is not on record
  ];
  for (const source of sources) assert.deepEqual(inspectLinkProblems(written(source).samples[0]), []);
  const [sample] = written(exampleAttempt(after, teamEvents())).samples;
  const lines = teamEvents().entries();
  for (const [index, { event, member }] of lines)
    if (member !== undefined && !["tool-call", "tool-result"].includes(event))
      assert.ok(
        sample.events.some(({ uuid }: Any) => uuid === `${index}`),
        event,
      );
});

test("conversations and calls of members are told apart, though they are called the same", () => {
  const [sample] = written(exampleAttempt(after, teamEvents())).samples;
  const begun = sample.events.filter(({ event }: Any) => event === "span_begin");
  assert.deepEqual(
    begun.map(({ id, name, parent_id: parent }: Any) => [id, name, parent]),
    [
      ["member-1", "lead", undefined],
      ["member-2", "coder", undefined],
      ["member-3", "checker", undefined],
      ["agent-1", "worker-1", "member-3"],
      ["iteration-1", "1", undefined],
    ],
  );
  const results = sample.events.filter(({ event }: Any) => event === "tool");
  assert.deepEqual(
    results.map(({ result, metadata: { member } }: Any) => [result, member]),
    [
      ["of the checker", "checker"],
      ["of the lead", "lead"],
    ],
  );
  const calls = sample.events.filter(({ event }: Any) => event === "model");
  assert.deepEqual(
    calls.map(({ role, input_refs: input }: Any) => [role, input]),
    [
      ["lead/agent", [[0, 1]]],
      ["checker/agent", undefined],
      ["checker/worker-1", [[5, 6]]],
    ],
  );
  assert.deepEqual(Object.keys(sample.role_usage), ["lead/agent", "checker/agent", "checker/worker-1"]);
});

test("a forged log with a broken link, a cycle or an event in the span of another member is found", () => {
  const problemsOf = (forge: (events: Any[], of: (id: string) => Any) => void) => {
    const [sample] = written(exampleAttempt(after, teamEvents())).samples;
    forge(sample.events, (id) =>
      sample.events.find((one: Any) => one.event === "span_begin" && one.id === id),
    );
    return inspectLinkProblems(sample).join("; ");
  };
  const later = problemsOf((_, of) => Object.assign(of("member-1"), { parent_id: "member-3" }));
  assert.match(later, /parent member-3 of span member-1 is no earlier event/);
  const cycle = problemsOf((_, of) => Object.assign(of("member-3"), { parent_id: "agent-1" }));
  assert.match(cycle, /parent agent-1 of span member-3 is no earlier event/);
  const moved = problemsOf((events) =>
    Object.assign(
      events.find(({ uuid }) => uuid === "21"),
      { span_id: "member-2" },
    ),
  );
  assert.match(moved, /event 21 of lead lies in the span of coder/);
  const out = problemsOf((events) => delete events.find(({ uuid }) => uuid === "21").span_id);
  assert.match(out, /event 21 of lead lies in the span of none/);
  const nowhere = problemsOf((events) =>
    Object.assign(
      events.find(({ uuid }) => uuid === "21"),
      { span_id: "member-9" },
    ),
  );
  assert.match(nowhere, /member-9, which is no earlier event/);
  const twice = problemsOf((events, of) => events.push(of("member-2")));
  assert.match(twice, /span member-2 begins again/);
  const open = problemsOf((events) =>
    events.splice(
      events.findIndex(({ event }) => event === "span_end"),
      1,
    ),
  );
  assert.match(open, /has no end/);
});

test("a long text without its file has a note in its place", () => {
  const events = everyEvent(new Map());
  const ours = written(exampleAttempt(after, events));
  assert.ok(
    Object.values(ours.samples[0].attachments).every((text) =>
      /\[the rest of \d+ bytes is missing\]$/.test(text as string),
    ),
  );
  assert.equal(Object.keys(ours.samples[0].attachments).length, 2);
});

test("Inspect reads a log of twenty thousand events that was written in small pieces", { skip }, () => {
  const many: TrajectoryEvent[] = [exampleEvent("start")];
  for (let call = 1; call <= 10_000; call++)
    many.push(modelCall(call), { event: "note", by: "agent", text: "x".repeat(200) });
  many.push(exampleEvent("end", { ended: "finished" }));
  const source = exampleAttempt(after, many);
  let largest = 0;
  for (const piece of inspectLog([source])) largest = Math.max(largest, piece.length);
  assert.ok(largest < 20_000, `a piece of ${largest}`);
  written(source);
  const count = readBack(
    python!,
    "import sys; from inspect_ai.log import read_eval_log; print(len(read_eval_log(sys.argv[1]).samples[0].events))",
    [file],
  );
  assert.equal(count, 20_003, "and what rules make of it, at the end");
});
