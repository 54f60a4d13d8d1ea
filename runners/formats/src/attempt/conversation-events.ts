// The events of a trajectory that belong to a conversation with a model: requests, answers, tools, notes.
import * as t from "../schema.ts";
import { failureOwner } from "./failure-owner.ts";
import { modelCause } from "./model-cause.ts";
import { count, event, exit, ordinal } from "./trajectory-event.ts";

const by = t.about(t.anyText, "the conversation: agent, supervisor, worker-1 … or program");

/** A text, or for a long one its beginning and the digest under which the attachments hold it whole. */
export const longText = {
  description: "a text, or its beginning and the digest under which attachments/ holds it whole (UTF-8)",
  anyOf: [t.anyText, t.wholeObject({ head: t.anyText, digest: t.sha256, bytes: count })],
} as const;

export const knownUsage = t.wholeExcept(["cacheWrittenTokens"], {
  inputTokens: t.about(count, "all of the prompt, cached or not"),
  outputTokens: count,
  cachedInputTokens: t.about(t.nullable(count), "part of inputTokens; null: not reported"),
  cacheWrittenTokens: t.about(
    count,
    "part of inputTokens, written to the provider's cache at a separate price",
  ),
  reasoningTokens: t.about(t.nullable(count), "part of outputTokens; null: not reported"),
});
const usage = t.about(t.nullable(knownUsage), "null: not reported");
const dollars = t.about(t.nullable(t.amount), "null: no price is known");

/** In the order in which the published schema lists them. */
export const conversationEvents = [
  event("message", {
    by,
    role: t.oneOf("system", "user"),
    why: t.about(
      t.oneOf("prompt", "notice", "nudge", "task"),
      "notice: a reminder of the deadline; nudge: asked to continue",
    ),
    text: longText,
  }),
  event(
    "model-request",
    {
      by,
      call: ordinal,
      provider: t.anyText,
      model: t.anyText,
      messages: t.about(count, "number of messages"),
      sameAs: t.about(
        t.nullable(t.wholeObject({ call: ordinal, messages: count })),
        "its first messages equal those of an earlier call's request; null: all follow as parts",
      ),
      system: {
        anyOf: [t.sha256, t.listOf(t.sha256), { type: "null" }],
        description: "digests of parts, for a list one for each block; null: the request has none",
      },
      tools: t.nullable(t.sha256),
      settings: t.sha256,
    },
    {
      dropped: t.about(
        t.listOf(t.anyText),
        "fields that the gateway left out; each is named once in an attempt",
      ),
      reaches: t.about(
        t.listOf(t.anyText),
        "fields by which the provider may search, fetch or run remote tools, for an attempt with a network; each is named once",
      ),
    },
  ),
  event(
    "request-part",
    {
      by,
      call: ordinal,
      part: t.about(
        t.oneOf("system", "tools", "settings", "message", "more-messages"),
        "more-messages: all after number 10 000, or all new ones once the record is full, as one list",
      ),
      place: t.about(t.nullable(count), "index of a message in the request, from 0"),
      role: t.nullable(t.anyText),
      digest: t.about(t.sha256, "of the JSON before its secrets were redacted"),
      text: longText,
    },
    { again: t.about({ const: true }, "an earlier part of the same digest holds the text") },
  ),
  event(
    "model-call",
    {
      call: t.about(ordinal, "number over all conversations of the attempt"),
      by,
      provider: t.anyText,
      model: t.about(t.anyText, "the requested model"),
      answeredBy: t.about(t.nullable(t.anyText), "the model that answered, as the provider names it"),
      requestDigest: t.about(
        t.sha256,
        "of the whole request without the parts that differ between two attempts; replay finds it by this",
      ),
      messages: count,
      text: longText,
      reasoning: t.nullable(longText),
      toolCalls: t.listOf(
        t.wholeObject({ id: t.anyText, name: t.anyText, input: longText, malformed: t.flag }),
      ),
      finish: t.oneOf("stop", "tool-calls", "length", "refusal", "other"),
      usage,
      dollars,
      durationMs: count,
      tries: count,
    },
    {
      fingerprint: t.about(
        t.anyText,
        "the provider's name for the model's configuration (system_fingerprint)",
      ),
      raw: {
        description: "what the provider needs in the next request, e.g. signatures",
        anyOf: longText.anyOf,
      },
      surcharge: t.about(
        t.anyText,
        "what the provider reports that has a price of its own, e.g. a tier; dollars is null",
      ),
      reach: t.about(
        t.anyText,
        "the field or type of the answer which shows that the provider searched, fetched a page or ran a tool",
      ),
    },
  ),
  event("model-try", {
    by,
    call: count,
    try: count,
    cause: modelCause,
    whose: t.about(failureOwner, "agent-…: the agent's failures, which are measured; others are not"),
    detail: t.anyText,
    usage,
    dollars,
    waitMs: t.about(t.nullable(t.amount), "wait before the next try; null: there is none"),
  }),
  event("tool-call", { by, id: t.anyText, name: t.anyText, input: longText }),
  event("tool-result", {
    by,
    id: t.anyText,
    name: t.anyText,
    outcome: t.about(
      t.oneOf("done", "failed", "refused", "timed-out"),
      "refused: malformed arguments or no such tool; timed-out: its own time limit",
    ),
    exit: t.about(exit, "of a program"),
    text: t.about(longText, "the text that the model gets"),
    rest: t.about(t.nullable(t.anyText), "the workspace file with the whole of a clipped text"),
    durationMs: count,
    executed: t.about(t.flag, "whether a program of the agent ran"),
  }),
  event("file-change", {
    by,
    path: t.about(t.anyText, "in the workspace"),
    digest: t.sha256,
    bytes: count,
  }),
  event("context-cut", { by, messagesCut: count, charactersCut: count, messagesKept: count }),
  event("note", { by, text: t.about(longText, "a note of the agent; survives context cuts") }),
] as const;
