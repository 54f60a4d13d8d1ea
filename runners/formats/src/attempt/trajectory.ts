// The format of a line of a trajectory: the supervisor's account of an attempt, one event a line, in the order in
// which it saw them. Published as pipelines/trajectory.schema.json for programs that read them. Readers take fields
// that they do not know for additions.

import {
  flag,
  listOf,
  nullable,
  oneOf,
  openObject,
  sha256,
  type TypeOf,
  tableOf,
  anyText as text,
} from "../schema.ts";
import { failureOwner } from "./failure-owner.ts";
import { modelCause } from "./model-cause.ts";
import { usedPrice } from "./used-price.ts";

/** Up to what JSON's readers hold exactly: sums over a hostile trajectory stay numbers. */
const count = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const ordinal = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
const by = { ...text, description: "whose conversation: agent, supervisor, worker-1 … or program" } as const;

/** A text that is longer than a line should be: its beginning, and the digest under which the attachments hold it whole. */
const longText = {
  description: "a text, or its beginning and the digest under which attachments/ holds it whole (UTF-8)",
  anyOf: [text, openObject({ head: text, digest: sha256, bytes: count }, ["head", "digest", "bytes"])],
} as const;

const knownUsage = openObject(
  {
    inputTokens: { ...count, description: "all of the prompt, cached or not" },
    outputTokens: count,
    cachedInputTokens: {
      ...nullable(count),
      description: "of inputTokens; null: the provider does not say",
    },
    cacheWrittenTokens: {
      ...count,
      description: "of inputTokens, written to the provider's cache at a price of its own",
    },
    reasoningTokens: { ...nullable(count), description: "of outputTokens; null: the provider does not say" },
  },
  ["inputTokens", "outputTokens", "cachedInputTokens", "reasoningTokens"],
);
const usage = { ...nullable(knownUsage), description: "null: the provider did not say" } as const;
const dollars = {
  ...nullable({ type: "number", minimum: 0 }),
  description: "null: no price is known",
} as const;

const exit = {
  ...nullable({
    anyOf: [openObject({ code: { type: "integer" } }, ["code"]), openObject({ signal: text }, ["signal"])],
  }),
  description: "of a program",
} as const;

export const waitReason = {
  ...oneOf("gpu", "rate-limit", "provider", "operator"),
  description: "operator: what only a person can mend, e.g. a key",
} as const;

const stream = oneOf("stdout", "stderr");

/** How an agent's program ended: `ExecResult` or what the supervisor ended it for. */
const ending = openObject(
  {
    kind: text,
    code: { type: "integer" },
    signal: text,
    detail: text,
    limit: text,
    over: openObject({ limit: text, detail: text }, []),
  },
  [],
);

/** One event: all `fields`, and of the `optional` ones any. */
function event<const Name extends string, const Fields extends object, const Optional extends object>(
  name: Name,
  fields: Fields,
  optional: Optional,
) {
  return {
    type: "object",
    properties: { event: { const: name }, ...fields, ...optional },
    // the type says the same in the form from which a type can be inferred
    required: ["event", ...Object.keys(fields)] as unknown as readonly ["event" | (keyof Fields & string)],
  } as const;
}

export const trajectoryEvent = {
  type: "object",
  discriminator: { propertyName: "event" },
  required: ["event"],
  oneOf: [
    event(
      "start",
      {
        task: text,
        agent: text,
        seed: { type: ["string", "number"] },
        kind: text,
        sandbox: text,
        deadline: text,
      },
      {
        budget: openObject(
          { wallMs: { type: "number" }, tokens: { type: "number" }, dollars: { type: "number" } },
          [],
        ),
        promptDigest: text,
        promptTemplateDigest: text,
        dataDigest: nullable(text),
        modelsDigest: nullable(text),
        programDigest: nullable(text),
        libraryDigest: nullable(text),
        limits: tableOf({ type: "number" }),
        deadlineFile: { ...text, description: "in the workspace; absent where the agent has none" },
        model: { type: "object", description: "of an llm agent's preset" },
        scaffold: { type: "object", description: "of an llm agent's preset" },
        gateway: { ...listOf({ type: "object" }), description: "the models that its program may call" },
      },
    ),
    event(
      "purse",
      {
        run: { ...text, description: "that carries the attempt from here on" },
        maxDollars: {
          ...nullable({ type: "number", minimum: 0 }),
          description: "the --max-cost that holds; null: none",
        },
        prices: { ...listOf(usedPrice), description: "of the models that it may call, as far as known" },
      },
      {},
    ),
    event("exec", { argv: listOf(text) }, {}),
    event("exec-end", { result: ending }, { where: tableOf(text) }),
    event("output", { stream, text }, {}),
    event("output-clipped", { stream, bytes: count }, {}),
    event(
      "iteration",
      {
        line: {
          ...text,
          description: "of the agent's iterations.jsonl, or of its tool `iteration`: its claim",
        },
        wellFormed: flag,
      },
      {},
    ),
    event(
      "snapshot",
      { name: text, digest: sha256, files: count, bytes: count },
      {
        changed: listOf(openObject({ path: text, digest: text }, ["path", "digest"])),
        changedMore: count,
        gone: listOf(text),
        goneMore: count,
        leftOut: listOf(openObject({ path: text, why: text }, ["path", "why"])),
        leftOutMore: count,
        torn: { ...listOf(text), description: "files that were written to while they were copied" },
      },
    ),
    event("snapshot-skipped", { because: text }, {}),
    event("snapshot-dropped", { name: text }, {}),
    event(
      "budget",
      { share: { type: "number", minimum: 0, maximum: 1, description: "of the working time is used up" } },
      {},
    ),
    event(
      "reminder",
      {
        look: {
          ...ordinal,
          description: "the number of the look for reminders that found it: replay gives it then",
        },
        text: { ...text, description: "what a model is reminded of from now on" },
      },
      {},
    ),
    event(
      "wait",
      {
        why: waitReason,
        durationMs: count,
        deadline: { ...text, description: "after it" },
      },
      {
        frozenMs: {
          ...count,
          description: "the deadline moved by it; absent in older records: by durationMs",
        },
        charged: {
          ...oneOf("cannot-freeze", "reported-afterwards"),
          description: "why it did not move",
        },
      },
    ),
    event(
      "message",
      {
        by,
        role: oneOf("system", "user"),
        why: {
          ...oneOf("prompt", "notice", "nudge", "task"),
          description: "notice: a reminder of the deadline; nudge: asked to go on",
        },
        text: longText,
      },
      {},
    ),
    event(
      "model-request",
      {
        by,
        call: ordinal,
        provider: text,
        model: text,
        messages: { ...count, description: "how many it has" },
        sameAs: {
          ...nullable(openObject({ call: ordinal, messages: count }, ["call", "messages"])),
          description: "its first messages are those of an earlier call's request; null: all follow as parts",
        },
        system: {
          anyOf: [sha256, listOf(sha256), { type: "null" }],
          description: "digests of parts, of a list one for each block; null: the request has none",
        },
        tools: nullable(sha256),
        settings: sha256,
      },
      {},
    ),
    event(
      "request-part",
      {
        by,
        call: ordinal,
        part: {
          ...oneOf("system", "tools", "settings", "message", "more-messages"),
          description:
            "more-messages: all after the 10 000th (in older records: the 2 000th), or all new ones once the record is full, as one list",
        },
        place: { ...nullable(count), description: "of a message: its index in the request, from 0" },
        role: nullable(text),
        digest: { ...sha256, description: "of the JSON before secrets were taken out of it" },
        text: longText,
      },
      { again: { const: true, description: "an earlier part of the same digest holds the text" } },
    ),
    event(
      "model-call",
      {
        call: { ...ordinal, description: "over all conversations of the attempt" },
        by,
        provider: text,
        model: { ...text, description: "as asked for" },
        answeredBy: { ...nullable(text), description: "as the provider named what answered" },
        requestDigest: {
          ...sha256,
          description:
            "of the whole request, with what differs between two attempts left blank: replay finds it by this",
        },
        messages: count,
        text: longText,
        reasoning: nullable(longText),
        toolCalls: listOf(
          openObject({ id: text, name: text, input: longText, malformed: flag }, [
            "id",
            "name",
            "input",
            "malformed",
          ]),
        ),
        finish: oneOf("stop", "tool-calls", "length", "refusal", "other"),
        usage,
        dollars,
        durationMs: count,
        tries: count,
      },
      {
        raw: {
          description: "what the provider wants back with the next request, e.g. signatures",
          anyOf: longText.anyOf,
        },
      },
    ),
    event(
      "model-try",
      {
        by,
        call: count,
        try: count,
        cause: modelCause,
        whose: { ...failureOwner, description: "agent-…: the agent's, which is measured; others are not" },
        detail: text,
        usage,
        dollars,
        waitMs: {
          ...nullable({ type: "number", minimum: 0 }),
          description: "waited before the next try; null: there is none",
        },
      },
      {},
    ),
    event("tool-call", { by, id: text, name: text, input: longText }, {}),
    event(
      "tool-result",
      {
        by,
        id: text,
        name: text,
        outcome: {
          ...oneOf("done", "failed", "refused", "timed-out"),
          description:
            "refused: arguments that make no sense, or no such tool; timed-out: its own limit of time",
        },
        exit,
        text: { ...longText, description: "what the model is told" },
        rest: {
          ...nullable(text),
          description: "the file of the workspace with the whole of a clipped text",
        },
        durationMs: count,
        executed: { ...flag, description: "whether a program of the agent's ran" },
      },
      {},
    ),
    event(
      "file-change",
      { by, path: { ...text, description: "in the workspace" }, digest: sha256, bytes: count },
      {},
    ),
    event("context-cut", { by, messagesCut: count, charactersCut: count, messagesKept: count }, {}),
    event(
      "note",
      { by, text: { ...longText, description: "what the agent wrote down to keep; survives context cuts" } },
      {},
    ),
    event(
      "end",
      {
        ended: text,
        iterations: openObject({ wellFormed: count, malformed: count, notKept: count }, []),
        submissionDigest: nullable(sha256),
      },
      {
        scaffold: { ...openObject({ kind: text, detail: text }, []), description: "how our loop ended" },
        why: { ...text, description: "what interrupted the attempt" },
      },
    ),
  ],
} as const;

/**
 * Of a whole line, as it is published: for each event an `if`, since validators without `discriminator` say of a
 * `oneOf` only that no variant fits.
 */
export const trajectoryLine = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "mlrb trajectory, one line",
  type: "object",
  properties: {
    formatVersion: { const: 1 },
    index: { ...count, description: "from 0, without gaps" },
    previous: {
      ...sha256,
      description: "sha256 of the line before without its line feed; zeros in the first",
    },
    time: { ...text, description: "ISO 8601, UTC; the wall clock" },
    sinceStartMs: { type: "integer", description: "by a monotonic clock" },
    event: { enum: trajectoryEvent.oneOf.map(({ properties }) => properties.event.const) },
  },
  required: ["formatVersion", "index", "previous", "time", "sinceStartMs", "event"],
  allOf: trajectoryEvent.oneOf.map(({ properties: { event, ...properties }, required }) => ({
    if: { properties: { event } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties, required: required.slice(1) },
  })),
} as const;

export type TrajectoryEvent = TypeOf<typeof trajectoryEvent>;
export type MessageEvent = Extract<TrajectoryEvent, { event: "message" }>;
export type ModelRequestEvent = Extract<TrajectoryEvent, { event: "model-request" }>;
export type RequestPartEvent = Extract<TrajectoryEvent, { event: "request-part" }>;
export type ModelCallEvent = Extract<TrajectoryEvent, { event: "model-call" }>;
export type ModelTryEvent = Extract<TrajectoryEvent, { event: "model-try" }>;
export type ToolCallEvent = Extract<TrajectoryEvent, { event: "tool-call" }>;
export type ToolResultEvent = Extract<TrajectoryEvent, { event: "tool-result" }>;

export type LongText = TypeOf<typeof longText>;
export type ModelUsage = TypeOf<typeof knownUsage>;
export type WaitReason = TypeOf<typeof waitReason>;
