// The schema of a line of a trajectory, published as pipelines/trajectory.schema.json for programs that read them.
// The table has an entry for every event that the types know; the compiler holds it to that. Readers should take
// fields that they do not know for additions.
import { failureOwner } from "@mlrb/formats/failure-owner";
import { modelCauseNames } from "./model-cause.ts";
import type { TrajectoryEvent } from "./trajectory-event.ts";

const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;
const digest = { type: "string", pattern: "^[0-9a-f]{64}$" } as const;
const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
const by = { ...text, description: "whose conversation: agent, supervisor, worker-1 … or program" } as const;

const longText = {
  description: "a text, or its beginning and the digest under which attachments/ holds it whole (UTF-8)",
  anyOf: [
    text,
    {
      type: "object",
      properties: { head: text, digest, bytes: count },
      required: ["head", "digest", "bytes"],
    },
  ],
};

const usage = nullable({
  type: "object",
  properties: {
    inputTokens: { ...count, description: "all of the prompt, cached or not" },
    outputTokens: count,
    cachedInputTokens: nullable(count),
    reasoningTokens: nullable(count),
  },
  required: ["inputTokens", "outputTokens", "cachedInputTokens", "reasoningTokens"],
});
const dollars = { ...nullable({ type: "number", minimum: 0 }), description: "null: no price is known" };

const amount = { type: "number", minimum: 0 };
const amountOrNull = nullable(amount);
const rates = { input: amount, cached: amount, cacheWrite: amount, output: amount };
const usedPrice = {
  type: "object",
  description: "dollars for a million tokens",
  properties: {
    provider: text,
    model: text,
    ...rates,
    above: {
      type: "object",
      properties: { inputTokens: count, ...rates },
      required: ["inputTokens", "input", "output"],
    },
    asOf: { ...text, description: "the day of the page" },
    source: { ...text, description: "a page of the provider's, or `--price of run RUN`" },
  },
  required: ["provider", "model", "input", "output", "source"],
};

const exit = nullable({
  anyOf: [
    { type: "object", properties: { code: { type: "integer" } }, required: ["code"] },
    { type: "object", properties: { signal: text }, required: ["signal"] },
  ],
});

const tree = { digest, files: count, bytes: count };

const toolCall = {
  type: "object",
  properties: { id: text, name: text, input: longText, malformed: { type: "boolean" } },
  required: ["id", "name", "input", "malformed"],
};

/** `required` are all fields but those in `optional`. */
type Fields = { fields: Record<string, object>; optional?: string[] };

const events: Record<TrajectoryEvent["event"], Fields> = {
  start: {
    fields: {
      task: text,
      agent: text,
      seed: { type: ["string", "number"] },
      kind: text,
      sandbox: text,
      deadline: text,
    },
  },
  purse: {
    fields: {
      run: text,
      maxDollars: { ...amountOrNull, description: "the --max-cost that holds; null: none" },
      prices: { type: "array", items: usedPrice },
    },
  },
  exec: { fields: { argv: { type: "array", items: text } } },
  "exec-end": { fields: { result: { type: "object" }, where: { type: "object" } }, optional: ["where"] },
  output: { fields: { stream: { enum: ["stdout", "stderr"] }, text } },
  "output-clipped": { fields: { stream: { enum: ["stdout", "stderr"] }, bytes: count } },
  iteration: { fields: { line: text, wellFormed: { type: "boolean" } } },
  snapshot: { fields: { name: text, ...tree } },
  "snapshot-skipped": { fields: { because: text } },
  "snapshot-dropped": { fields: { name: text } },
  budget: { fields: { share: { type: "number", minimum: 0, maximum: 1 } } },
  reminder: { fields: { look: { type: "integer", minimum: 1 }, text } },
  wait: {
    fields: {
      why: { enum: ["gpu", "rate-limit", "provider", "operator"] },
      durationMs: count,
      deadline: text,
      frozenMs: {
        ...count,
        description: "the deadline moved by it; absent in older records: by durationMs",
      },
      charged: { enum: ["cannot-freeze", "reported-afterwards"], description: "why it did not move" },
    },
    optional: ["frozenMs", "charged"],
  },
  message: {
    fields: {
      by,
      role: { enum: ["system", "user"] },
      why: { enum: ["prompt", "notice", "nudge", "task"] },
      text: longText,
    },
  },
  "model-request": {
    fields: {
      by,
      call: { type: "integer", minimum: 1 },
      provider: text,
      model: text,
      messages: count,
      sameAs: nullable({
        type: "object",
        properties: { call: { type: "integer", minimum: 1 }, messages: count },
        required: ["call", "messages"],
      }),
      system: { anyOf: [digest, { type: "array", items: digest }, { type: "null" }] },
      tools: nullable(digest),
      settings: digest,
    },
  },
  "request-part": {
    fields: {
      by,
      call: { type: "integer", minimum: 1 },
      part: { enum: ["system", "tools", "settings", "message", "more-messages"] },
      place: nullable(count),
      role: nullable(text),
      digest,
      text: longText,
      again: { const: true, description: "an earlier part of the same digest holds the text" },
    },
    optional: ["again"],
  },
  "model-call": {
    fields: {
      call: { type: "integer", minimum: 1 },
      by,
      provider: text,
      model: text,
      answeredBy: nullable(text),
      requestDigest: digest,
      messages: count,
      text: longText,
      reasoning: nullable(longText),
      toolCalls: { type: "array", items: toolCall },
      finish: { enum: ["stop", "tool-calls", "length", "refusal", "other"] },
      raw: longText,
      usage,
      dollars,
      durationMs: count,
      tries: count,
    },
    optional: ["raw"],
  },
  "model-try": {
    fields: {
      by,
      call: count,
      try: count,
      cause: { enum: [...modelCauseNames] },
      whose: failureOwner,
      detail: text,
      usage,
      dollars,
      waitMs: nullable(count),
    },
  },
  "tool-call": { fields: { by, id: text, name: text, input: longText } },
  "tool-result": {
    fields: {
      by,
      id: text,
      name: text,
      outcome: { enum: ["done", "failed", "refused", "timed-out"] },
      exit,
      text: longText,
      rest: nullable(text),
      durationMs: count,
      executed: { type: "boolean" },
    },
  },
  "file-change": {
    fields: { by, path: { ...text, description: "in the workspace" }, digest, bytes: count },
  },
  "context-cut": { fields: { by, messagesCut: count, charactersCut: count, messagesKept: count } },
  note: { fields: { by, text: longText } },
  end: { fields: { ended: text, iterations: { type: "object" }, submissionDigest: nullable(digest) } },
};

export const trajectorySchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "mlrb trajectory, one line",
  type: "object",
  properties: {
    formatVersion: { const: 1 },
    index: { ...count, description: "from 0, without gaps" },
    previous: {
      ...digest,
      description: "sha256 of the line before without its line feed; zeros in the first",
    },
    time: { ...text, description: "ISO 8601, UTC; the wall clock" },
    sinceStartMs: { type: "integer", description: "by a monotonic clock" },
    event: { enum: Object.keys(events) },
  },
  required: ["formatVersion", "index", "previous", "time", "sinceStartMs", "event"],
  allOf: Object.entries(events).map(([event, { fields, optional = [] }]) => ({
    if: { properties: { event: { const: event } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: fields,
      required: Object.keys(fields).filter((name) => !optional.includes(name)),
    },
  })),
};
