// Whole events of trajectories for tests that care about some of their fields.
import type { TrajectoryEvent } from "../attempt/trajectory.ts";

type EventName = TrajectoryEvent["event"];
type EventOf<Name extends EventName> = Extract<TrajectoryEvent, { event: Name }>;

const digest = "0".repeat(64);
const of = { by: "agent", id: "1", name: "shell" } as const;

const examples: { [Name in EventName]: Omit<EventOf<Name>, "event"> } = {
  start: {
    ...{ task: "words", agent: "thinker", seed: 1, kind: "command" },
    ...{ sandbox: "plain", deadline: "2026-01-02T03:14:05.000Z" },
  },
  purse: { run: "r", maxDollars: null, prices: [] },
  exec: { argv: ["true"] },
  "exec-end": { result: { kind: "exited", code: 0 } },
  output: { stream: "stdout", text: "" },
  "output-clipped": { stream: "stdout", bytes: 1 },
  iteration: { line: "{}", wellFormed: true },
  snapshot: { name: "0001", digest, files: 1, bytes: 1 },
  "snapshot-skipped": { because: "a file is too large" },
  "snapshot-dropped": { name: "0001" },
  "restore-point": { name: "0001", after: 1, files: 1, copiedBytes: 1, torn: 0, durationMs: 1 },
  "restore-point-skipped": { because: "no room on the disk" },
  budget: { share: 0.5 },
  reminder: { look: 1, text: "" },
  extended: { number: 1, by: "A. Lee", addedMs: 3_600_000, addedDollars: 0 },
  resumed: { times: 1, after: 1, step: 0, workspace: "kept", workingMs: 1, creditedMs: 0 },
  wait: { why: "provider", durationMs: 1000, frozenMs: 1000, deadline: "2026-01-02T03:14:05.000Z" },
  download: {
    ...{ from: "model", id: "lab/model", revision: "0".repeat(40), path: "config.json" },
    ...{ digest, bytes: 1, cached: false },
  },
  "download-refused": { asked: "GET /", cause: "not-served", detail: "" },
  message: { by: "agent", role: "user", why: "prompt", text: "" },
  "model-request": {
    ...{ by: "program", call: 1, provider: "p", model: "m", messages: 0 },
    ...{ sameAs: null, system: null, tools: null, settings: digest },
  },
  "request-part": { by: "program", call: 1, part: "message", place: 0, role: "user", digest, text: "" },
  "model-call": {
    ...{ call: 1, by: "agent", provider: "p", model: "m", answeredBy: null, requestDigest: digest },
    ...{ messages: 1, text: "", reasoning: null, toolCalls: [], finish: "stop" as const },
    ...{ usage: null, dollars: null, durationMs: 1, tries: 1 },
  },
  "model-try": {
    ...{ by: "agent", call: 1, try: 1, cause: "rate-limit" as const, whose: "provider" as const },
    ...{ detail: "", usage: null, dollars: null, waitMs: null },
  },
  "tool-call": { ...of, input: "{}" },
  "tool-result": { ...of, outcome: "done", exit: null, text: "", rest: null, durationMs: 1, executed: false },
  "file-change": { by: "agent", path: "train.py", digest, bytes: 1 },
  "context-cut": { by: "agent", messagesCut: 1, charactersCut: 1, messagesKept: 1 },
  note: { by: "agent", text: "" },
  person: {
    person: "1f2e3d4c",
    consent: "I take part.",
    agreedAt: "2026-01-31T10:00:00.000Z",
    knowledge: "none",
  },
  "person-end": { person: "1f2e3d4c" },
  "member-start": { member: "lead", agent: "thinker", kind: "llm" },
  "member-end": { member: "lead", result: { kind: "submitted" } },
  board: { member: "lead", to: "all", purpose: "message", text: "" },
  "board-refused": { member: "lead", because: "no member is called x" },
  "member-wait": { member: "lead", why: "provider", durationMs: 1000, frozen: true },
  end: {
    ended: "finished",
    iterations: { wellFormed: 0, malformed: 0, notKept: 0 },
    submissionDigest: null,
  },
};

export const eventNames = Object.keys(examples) as EventName[];

/** An event with these `facts`, and with such of an example where they are silent. */
export function exampleEvent<Name extends EventName>(
  event: Name,
  facts: Partial<EventOf<Name>> = {},
): EventOf<Name> {
  return { event, ...examples[event], ...facts } as unknown as EventOf<Name>;
}
