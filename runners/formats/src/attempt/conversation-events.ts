// The events of a trajectory that belong to a conversation with a model: requests, answers, tools, notes.
import {
  amount,
  flag,
  listOf,
  nullable,
  oneOf,
  sha256,
  anyText as text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { failureOwner } from "./failure-owner.ts";
import { modelCause } from "./model-cause.ts";
import { count, event, exit, ordinal } from "./trajectory-event.ts";

const by = { ...text, description: "the conversation: agent, supervisor, worker-1 … or program" } as const;

/** A text, or for a long one its beginning and the digest under which the attachments hold it whole. */
export const longText = {
  description: "a text, or its beginning and the digest under which attachments/ holds it whole (UTF-8)",
  anyOf: [text, wholeObject({ head: text, digest: sha256, bytes: count })],
} as const;

export const knownUsage = wholeExcept(["cacheWrittenTokens"], {
  inputTokens: { ...count, description: "all of the prompt, cached or not" },
  outputTokens: count,
  cachedInputTokens: {
    ...nullable(count),
    description: "part of inputTokens; null: not reported",
  },
  cacheWrittenTokens: {
    ...count,
    description: "part of inputTokens, written to the provider's cache at a separate price",
  },
  reasoningTokens: { ...nullable(count), description: "part of outputTokens; null: not reported" },
});
const usage = { ...nullable(knownUsage), description: "null: not reported" } as const;
const dollars = {
  ...nullable(amount),
  description: "null: no price is known",
} as const;

/** In the order in which the published schema lists them. */
export const conversationEvents = [
  event("message", {
    by,
    role: oneOf("system", "user"),
    why: {
      ...oneOf("prompt", "notice", "nudge", "task"),
      description: "notice: a reminder of the deadline; nudge: asked to continue",
    },
    text: longText,
  }),
  event(
    "model-request",
    {
      by,
      call: ordinal,
      provider: text,
      model: text,
      messages: { ...count, description: "number of messages" },
      sameAs: {
        ...nullable(wholeObject({ call: ordinal, messages: count })),
        description: "its first messages equal those of an earlier call's request; null: all follow as parts",
      },
      system: {
        anyOf: [sha256, listOf(sha256), { type: "null" }],
        description: "digests of parts, for a list one for each block; null: the request has none",
      },
      tools: nullable(sha256),
      settings: sha256,
    },
    {
      dropped: {
        ...listOf(text),
        description: "fields that the gateway left out; each is named once in an attempt",
      },
      reaches: {
        ...listOf(text),
        description:
          "fields by which the provider may search, fetch or run remote tools, for an attempt with a network; each is named once",
      },
    },
  ),
  event(
    "request-part",
    {
      by,
      call: ordinal,
      part: {
        ...oneOf("system", "tools", "settings", "message", "more-messages"),
        description:
          "more-messages: all after number 10 000, or all new ones once the record is full, as one list",
      },
      place: { ...nullable(count), description: "index of a message in the request, from 0" },
      role: nullable(text),
      digest: { ...sha256, description: "of the JSON before its secrets were redacted" },
      text: longText,
    },
    { again: { const: true, description: "an earlier part of the same digest holds the text" } },
  ),
  event(
    "model-call",
    {
      call: { ...ordinal, description: "number over all conversations of the attempt" },
      by,
      provider: text,
      model: { ...text, description: "the requested model" },
      answeredBy: { ...nullable(text), description: "the model that answered, as the provider names it" },
      requestDigest: {
        ...sha256,
        description:
          "of the whole request without the parts that differ between two attempts; replay finds it by this",
      },
      messages: count,
      text: longText,
      reasoning: nullable(longText),
      toolCalls: listOf(wholeObject({ id: text, name: text, input: longText, malformed: flag })),
      finish: oneOf("stop", "tool-calls", "length", "refusal", "other"),
      usage,
      dollars,
      durationMs: count,
      tries: count,
    },
    {
      fingerprint: {
        ...text,
        description: "the provider's name for the model's configuration (system_fingerprint)",
      },
      raw: {
        description: "what the provider needs in the next request, e.g. signatures",
        anyOf: longText.anyOf,
      },
      surcharge: {
        ...text,
        description: "what the provider reports that has a price of its own, e.g. a tier; dollars is null",
      },
      reach: {
        ...text,
        description:
          "the field or type of the answer which shows that the provider searched, fetched a page or ran a tool",
      },
    },
  ),
  event("model-try", {
    by,
    call: count,
    try: count,
    cause: modelCause,
    whose: {
      ...failureOwner,
      description: "agent-…: the agent's failures, which are measured; others are not",
    },
    detail: text,
    usage,
    dollars,
    waitMs: {
      ...nullable(amount),
      description: "wait before the next try; null: there is none",
    },
  }),
  event("tool-call", { by, id: text, name: text, input: longText }),
  event("tool-result", {
    by,
    id: text,
    name: text,
    outcome: {
      ...oneOf("done", "failed", "refused", "timed-out"),
      description: "refused: malformed arguments or no such tool; timed-out: its own time limit",
    },
    exit: { ...exit, description: "of a program" },
    text: { ...longText, description: "the text that the model gets" },
    rest: {
      ...nullable(text),
      description: "the workspace file with the whole of a clipped text",
    },
    durationMs: count,
    executed: { ...flag, description: "whether a program of the agent ran" },
  }),
  event("file-change", {
    by,
    path: { ...text, description: "in the workspace" },
    digest: sha256,
    bytes: count,
  }),
  event("context-cut", { by, messagesCut: count, charactersCut: count, messagesKept: count }),
  event("note", { by, text: { ...longText, description: "a note of the agent; survives context cuts" } }),
] as const;
