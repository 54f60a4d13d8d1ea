// Whether the fields of a line are one of the events that this version knows, so that what reads them can rely on
// their types. What is not is carried along as it is, never guessed at. Pure.
import type { TrajectoryEvent } from "@mlrb/core/trajectory-event";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const flag: Check = (value) => typeof value === "boolean";
const object: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const fields =
  (shape: Record<string, Check>): Check =>
  (value) =>
    object(value) &&
    Object.entries(shape).every(([name, check]) => check((value as Record<string, unknown>)[name]));
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const longText: Check = (value) => text(value) || fields({ head: text, digest: text, bytes: number })(value);
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const usage = orNull(
  fields({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: orNull(count),
    reasoningTokens: orNull(count),
  }),
);
const finishes = new Set(["stop", "tool-calls", "length", "refusal", "other"]);
const outcomes = new Set(["done", "failed", "refused", "timed-out"]);

const shapes: Record<TrajectoryEvent["event"], Record<string, Check>> = {
  start: {},
  purse: { run: text, maxDollars: orNull(number), prices: list(object) },
  exec: { argv: list(text) },
  "exec-end": { result: object },
  output: { stream: text, text },
  "output-clipped": { stream: text, bytes: number },
  iteration: { line: text, wellFormed: flag },
  snapshot: { name: text },
  "snapshot-skipped": { because: text },
  "snapshot-dropped": { name: text },
  budget: { share: number },
  reminder: { look: number, text },
  wait: { why: text, durationMs: number, deadline: text },
  message: { by: text, role: (value) => value === "system" || value === "user", why: text, text: longText },
  "model-request": {
    by: text,
    call: number,
    provider: text,
    model: text,
    messages: count,
    sameAs: orNull(fields({ call: number, messages: count })),
    system: (value) => orNull(text)(value) || list(text)(value),
    tools: orNull(text),
    settings: text,
  },
  "request-part": {
    by: text,
    call: number,
    part: text,
    place: orNull(count),
    role: orNull(text),
    digest: text,
    text: longText,
  },
  "model-call": {
    call: number,
    by: text,
    provider: text,
    model: text,
    answeredBy: orNull(text),
    requestDigest: text,
    messages: number,
    text: longText,
    reasoning: orNull(longText),
    toolCalls: list(fields({ id: text, name: text, input: longText, malformed: flag })),
    finish: (value) => finishes.has(value as string),
    usage,
    dollars: orNull(number),
    durationMs: number,
    tries: number,
  },
  "model-try": {
    by: text,
    call: number,
    try: number,
    cause: text,
    whose: text,
    detail: text,
    usage,
    dollars: orNull(number),
    waitMs: orNull(number),
  },
  "tool-call": { by: text, id: text, name: text, input: longText },
  "tool-result": {
    by: text,
    id: text,
    name: text,
    outcome: (value) => outcomes.has(value as string),
    exit: orNull(object),
    text: longText,
    rest: orNull(text),
    durationMs: number,
    executed: flag,
  },
  "file-change": { by: text, path: text, digest: text, bytes: count },
  "context-cut": { by: text, messagesCut: number, charactersCut: number, messagesKept: number },
  note: { by: text, text: longText },
  end: {},
};

export function knownEvent(own: Record<string, unknown>): TrajectoryEvent | undefined {
  const name = String(own.event);
  if (!Object.hasOwn(shapes, name)) return undefined;
  const shape = shapes[name as TrajectoryEvent["event"]];
  return fields(shape)(own) ? (own as TrajectoryEvent) : undefined;
}
