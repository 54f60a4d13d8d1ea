// Attempts for tests of the story and the exports, written by hand event by event, as a supervisor writes them.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  LongText,
  ModelCallEvent,
  ToolResultEvent,
  TrajectoryEvent,
} from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { AttemptSource, NamedScore } from "../exports/attempt-source.ts";
import { trajectoryLines } from "../exports/trajectory-lines.ts";

type Options = Partial<Omit<AttemptSource, "lines" | "whole">> & {
  /** Of long texts, by digest. */
  attachments?: Map<string, string>;
  /** Appended unchanged, e.g. half a line. */
  tail?: string;
  /** Between one event and the next. */
  stepMs?: number;
};

const exampleStart = Date.parse("2026-01-02T03:04:05.000Z");

/** The lines of a trajectory; without the hash chain, which the readers under test ignore. */
export function* exampleLines(events: Iterable<TrajectoryEvent>, stepMs = 1000): Generator<string> {
  let index = 0;
  for (const event of events) {
    const sinceStartMs = index * stepMs;
    const time = new Date(exampleStart + sinceStartMs).toISOString();
    yield `${canonicalJson({ formatVersion: 1, index, previous: "", time, sinceStartMs, ...event })}\n`;
    index++;
  }
}

/** An attempt with these events; `after` gets the removal of its file. */
export function exampleAttempt(
  after: (remove: () => void) => void,
  events: Iterable<TrajectoryEvent>,
  { attachments = new Map(), tail = "", stepMs, ...more }: Options = {},
): AttemptSource {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-attempt-example-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "trajectory.jsonl");
  writeFileSync(path, [...exampleLines(events, stepMs)].join("") + tail);
  return {
    id: "ab".repeat(32),
    state: "recorded",
    slot: { pipeline: "example", profile: "smoke", stage: "attempt[task=words,agent=thinker,seed=1]" },
    axes: { task: "words", agent: "thinker", seed: 1 },
    key: "cd".repeat(32),
    startedAt: new Date(exampleStart).toISOString(),
    durationMs: 60_000,
    executor: "local",
    where: { image: "example:1" },
    ledger: { read: exampleLedger() },
    scores: null,
    ...more,
    lines: () => trajectoryLines(path),
    whole(text: LongText) {
      if (typeof text === "string") return { text, missing: null };
      const found = attachments.get(text.digest);
      return found === undefined
        ? { text: text.head, missing: `the rest of ${text.bytes} bytes is missing` }
        : { text: found, missing: null };
    },
  };
}

function longText(whole: string, attachments: Map<string, string>): LongText {
  const digest = createHash("sha256").update(whole).digest("hex");
  attachments.set(digest, whole);
  return { head: whole.slice(0, 20), digest, bytes: Buffer.byteLength(whole) };
}

export function modelCall(call: number, more: Partial<ModelCallEvent> = {}): ModelCallEvent {
  return {
    event: "model-call",
    call,
    by: "agent",
    provider: "openai",
    model: "gpt-4o-2024-08-06",
    answeredBy: "gpt-4o-2024-08-06",
    requestDigest: "12".repeat(32),
    messages: 2,
    text: "I shall look.",
    reasoning: null,
    toolCalls: [],
    finish: "stop",
    usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: null },
    dollars: 0.01,
    durationMs: 900,
    tries: 1,
    ...more,
  };
}

export function toolResult(id: string, more: Partial<ToolResultEvent> = {}): ToolResultEvent {
  return {
    event: "tool-result",
    by: "agent",
    id,
    name: "shell",
    outcome: "done",
    exit: { code: 0 },
    text: "total 0",
    rest: null,
    durationMs: 300,
    executed: true,
    ...more,
  };
}

export function exampleScore(
  name: string,
  more: Partial<Extract<NamedScore, { kind: "scored" }>> = {},
): NamedScore {
  return {
    kind: "scored",
    name,
    unit: "bits",
    direction: "lower",
    digits: 3,
    baseline: 8,
    value: 2.5,
    standardError: 0.1,
    items: 50,
    ...more,
  };
}

/** Every kind of event at least once: a supervisor with a worker, failures and iterations. */
export function everyEvent(attachments: Map<string, string>): TrajectoryEvent[] {
  const call = (id: string, name: string, input: Record<string, unknown>, by = "supervisor") => ({
    event: "tool-call" as const,
    by,
    id,
    name,
    input: JSON.stringify(input),
  });
  const asked = (id: string, name: string, input: Record<string, unknown>) => ({
    id,
    name,
    input: JSON.stringify(input),
    malformed: false,
  });
  return [
    {
      ...exampleEvent("start", { kind: "llm", promptDigest: "aa" }),
      ...{ scaffoldVersion: 3 }, // as a later version of the format may say
    },
    { event: "message", by: "supervisor", role: "system", why: "prompt", text: "You do research." },
    {
      event: "message",
      by: "supervisor",
      role: "user",
      why: "prompt",
      text: longText("Train a model. ".repeat(200), attachments),
    },
    {
      event: "model-try",
      by: "supervisor",
      call: 1,
      try: 1,
      cause: "rate-limit",
      whose: "provider",
      detail: "429 slow down",
      usage: null,
      dollars: null,
      waitMs: 2000,
    },
    {
      event: "wait",
      why: "rate-limit",
      durationMs: 2000,
      frozenMs: 2000,
      deadline: "2026-01-02T03:14:07.000Z",
    },
    modelCall(1, {
      by: "supervisor",
      reasoning: "A worker can do it.",
      toolCalls: [
        asked("c1", "delegate", { to: "worker-1" }),
        { id: "c2", name: "shell", input: "{not json", malformed: true },
      ],
      finish: "tool-calls",
      tries: 2,
    }),
    toolResult("c2", { by: "supervisor", outcome: "refused", exit: null, executed: false, text: "not JSON" }),
    call("c1", "delegate", { to: "worker-1" }),
    { event: "message", by: "worker-1", role: "user", why: "task", text: "Do it." },
    modelCall(2, {
      by: "worker-1",
      model: "claude-3-5-sonnet-20241022",
      provider: "anthropic",
      answeredBy: null,
      dollars: null,
      toolCalls: [asked("w1", "shell", { command: "python train.py" })],
      finish: "tool-calls",
    }),
    call("w1", "shell", { command: "python train.py" }, "worker-1"),
    toolResult("w1", {
      by: "worker-1",
      text: longText("step ".repeat(9000), attachments),
      rest: "outputs/1.txt",
      durationMs: 5000,
    }),
    { event: "note", by: "worker-1", text: "a larger rate helps" },
    {
      event: "iteration",
      line: JSON.stringify({
        id: "first",
        hypothesis: "a larger rate helps",
        change: "lr 1e-3",
        metric: { name: "loss", split: "dev", value: 2.9 },
        decision: "keep",
      }),
      wellFormed: true,
    },
    {
      event: "snapshot",
      name: "0001",
      digest: "ab".repeat(32),
      files: 2,
      bytes: 5000,
      changed: [{ path: "model.safetensors", digest: "cd".repeat(32) }],
    },
    { event: "context-cut", by: "worker-1", messagesCut: 0, charactersCut: 0, messagesKept: 4 },
    modelCall(3, {
      by: "worker-1",
      model: "claude-3-5-sonnet-20241022",
      provider: "anthropic",
      answeredBy: null,
      dollars: null,
      text: "Done.",
    }),
    toolResult("c1", {
      by: "supervisor",
      name: "delegate",
      text: "Done.",
      exit: null,
      executed: false,
      durationMs: 9000,
    }),
    { event: "budget", share: 0.5 },
    { event: "message", by: "supervisor", role: "user", why: "notice", text: "Half of the time is over." },
    { event: "snapshot-skipped", because: "a file is too large" },
    { event: "snapshot-dropped", name: "0001" },
    modelCall(4, {
      by: "supervisor",
      usage: null,
      dollars: null,
      text: "",
      toolCalls: [asked("c3", "shell", { command: "sleep 999" })],
      finish: "tool-calls",
    }),
    call("c3", "shell", { command: "sleep 999" }),
    { event: "exec", argv: ["sh", "-c", "true"] },
    { event: "output", stream: "stdout", text: "loss 2.9\n" },
    { event: "output-clipped", stream: "stdout", bytes: 12 },
    { event: "exec-end", result: { kind: "exited", code: 0 } },
    { event: "snapshot", name: "final", digest: "ef".repeat(32), files: 1, bytes: 10 },
    {
      event: "end",
      ended: "time-limit",
      iterations: { wellFormed: 1, malformed: 0, notKept: 0 },
      submissionDigest: "ef".repeat(32),
    },
  ];
}

/** A team of three, two of which work at the same time: equal names of conversations and of calls, and messages. */
export function teamEvents({ lead = "lead", text = "Take the first half." } = {}): TrajectoryEvent[] {
  const start = (member: string, agent: string, kind: "llm" | "command", role?: string) =>
    exampleEvent("member-start", { member, agent, kind, ...(role !== undefined && { role }) });
  const shell = { id: "c1", name: "shell", input: '{"command":"ls"}', malformed: false };
  const called = (member: string, call: number) => [
    modelCall(call, { member, toolCalls: [shell], finish: "tool-calls" }),
    exampleEvent("tool-call", { member, by: "agent", id: "c1", name: "shell", input: shell.input }),
  ];
  return [
    exampleEvent("start", { kind: "team" }),
    start(lead, "thinker", "llm", "You plan."),
    exampleEvent("message", { member: lead, by: "agent", text: "Train a model." }),
    start("coder", "script", "command"),
    exampleEvent("exec", { member: "coder", argv: ["python", "agent.py"] }),
    ...called(lead, 1),
    exampleEvent("board", { member: lead, to: "coder", purpose: "hand-over", text }),
    start("checker", "thinker", "llm"),
    ...called("checker", 2),
    toolResult("c1", { member: "checker", text: "of the checker", outcome: "failed", exit: null }),
    toolResult("c1", { member: lead, text: "of the lead" }),
    exampleEvent("message", { member: "checker", by: "worker-1", why: "task", text: "Check it." }),
    modelCall(3, { member: "checker", by: "worker-1", text: "Checked.", usage: null, dollars: null }),
    exampleEvent("output", { member: "coder", text: "half a " }),
    exampleEvent("output", { text: "of no member\n" }),
    exampleEvent("output", { member: "coder", text: "line\n" }),
    exampleEvent("member-wait", { member: lead, why: "rate-limit", durationMs: 2000 }),
    exampleEvent("wait", { why: "provider", durationMs: 1000, frozenMs: 1000 }),
    exampleEvent("resumed", { times: 1, after: 10 }),
    exampleEvent("file-change", { member: lead, path: "train.py" }),
    exampleEvent("iteration", { member: lead, line: '{"id":"1","change":"a"}', wellFormed: true }),
    exampleEvent("board-refused", { member: "coder", because: "no member is called x" }),
    exampleEvent("board", { member: "coder", to: "all", text: "done" }),
    exampleEvent("iteration", { line: '{"id":"1","change":"b"}', wellFormed: true }),
    exampleEvent("exec-end", { member: "coder", result: { kind: "exited", code: 1 } }),
    exampleEvent("member-end", { member: "coder", result: { kind: "exited", code: 1 } }),
    exampleEvent("member-end", { member: lead, result: { kind: "submitted" } }),
    { event: "dream", member: "checker", of: [1] } as never, // as a later version may say
    exampleEvent("member-end", { member: "checker", result: { kind: "gave-up" } }),
    exampleEvent("end"),
  ];
}
