// Reads answers in Anthropic's messages protocol: platform.claude.com/docs/en/build-with-claude/streaming
import type { Json } from "@mlrb/kit/stage";
import { at, countAt, listAt, mayCount, nameAt, reportedCount, textAt } from "../../model/json-text.ts";
import {
  type AnswerReader,
  addReasoning,
  addSurcharge,
  emptyAnswer,
  finishOf,
  type HeardAnswer,
  type HeardCall,
  tierSurcharge,
  withCountedOutput,
} from "./heard-answer.ts";

const finishes = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  refusal: "refusal",
} as const;

const counted = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
] as const;

type Reading = {
  heard: HeardAnswer;
  counts: Partial<Record<(typeof counted)[number], number>>;
  /** By the index of their block. */
  calls: Map<number, HeardCall>;
};

export function readAnthropic(): AnswerReader {
  const reading: Reading = { heard: emptyAnswer(), counts: {}, calls: new Map() };
  return { take: (value) => take(reading, value), heard: () => heardIn(reading) };
}

function take(reading: Reading, value: Json): void {
  const { heard, calls } = reading;
  switch (at(value, "type")) {
    case "message":
      takeStart(reading, value);
      for (const [index, block] of listAt(value, "content").entries()) takeBlock(reading, block, index);
      takeEnd(heard, textAt(value, "stop_reason"));
      heard.whole = true;
      return;
    case "message_start":
      takeStart(reading, at(value, "message"));
      return;
    case "content_block_start":
      takeBlock(reading, at(value, "content_block"), countAt(value, "index") ?? 0);
      return;
    case "content_block_delta": {
      heard.text += textAt(value, "delta", "text");
      addReasoning(heard, textAt(value, "delta", "thinking"));
      const call = calls.get(countAt(value, "index") ?? 0);
      if (call) call.input += textAt(value, "delta", "partial_json");
      return;
    }
    case "message_delta":
      takeEnd(heard, textAt(value, "delta", "stop_reason"));
      takeCounts(reading, at(value, "usage"));
      return;
    case "message_stop":
      heard.whole = true;
      return;
    case "error":
      heard.complaint = value;
      return;
    default: // a ping, the end of a block, or an event newer than this program
      return;
  }
}

function takeStart(reading: Reading, message: Json | undefined): void {
  reading.heard.answeredBy = nameAt(message, "model") || reading.heard.answeredBy;
  takeCounts(reading, at(message, "usage"));
}

function takeBlock({ heard, calls }: Reading, block: Json | undefined, index: number): void {
  heard.text += textAt(block, "text");
  addReasoning(heard, textAt(block, "thinking"));
  if (at(block, "type") !== "tool_use") return;
  const input = at(block, "input");
  const given = typeof input === "object" && input !== null && Object.keys(input).length > 0;
  calls.set(index, {
    id: textAt(block, "id"),
    name: textAt(block, "name"),
    input: given ? JSON.stringify(input) : "",
  });
}

function takeEnd(heard: HeardAnswer, reason: string): void {
  if (reason) heard.finish = finishOf(finishes, reason);
}

/** Each event holds the sum so far, and sums only grow. A value that is no count makes the sum unknown. */
function takeCounts({ counts, heard }: Reading, usage: Json | undefined): void {
  addSurcharge(heard, surchargeOf(usage));
  for (const name of counted) {
    const count = reportedCount(usage, name);
    if (count !== null) counts[name] = Math.max(counts[name] ?? 0, count);
  }
}

function surchargeOf(usage: Json | undefined): string | null {
  const [speed, region] = [nameAt(usage, "speed"), nameAt(usage, "inference_geo")];
  if (!["", "standard"].includes(speed)) return `speed ${speed.slice(0, 100)}`;
  if (!["", "global", "not_available"].includes(region)) return `region ${region.slice(0, 100)}`;
  if (mayCount(usage, "server_tool_use", "web_search_requests"))
    return `${nameAt(usage, "server_tool_use", "web_search_requests")} web searches`;
  if (mayCount(usage, "cache_creation", "ephemeral_1h_input_tokens")) return "a cache for an hour";
  // the counts of usage leave out other calls of a model, e.g. a summary
  const other = listAt(usage, "iterations").map((one) => nameAt(one, "type"));
  const unlike = other.find((type) => !["", "message"].includes(type));
  return unlike === undefined
    ? tierSurcharge(nameAt(usage, "service_tier"))
    : `a call for ${unlike.slice(0, 100)}`;
}

function heardIn({ heard, counts, calls }: Reading): HeardAnswer {
  const { input_tokens: input, output_tokens: output } = counts;
  const cached = counts.cache_read_input_tokens ?? null;
  const written = counts.cache_creation_input_tokens;
  const usage = {
    inputTokens: (input ?? 0) + (written ?? 0) + (cached ?? 0),
    outputTokens: output ?? 0,
    cachedInputTokens: cached,
    ...(written !== undefined && { cacheWrittenTokens: written }),
    reasoningTokens: null,
  };
  return withCountedOutput({
    ...heard,
    toolCalls: [...calls.values()].map((call) => ({ ...call, input: call.input || "{}" })),
    usage: input !== undefined && output !== undefined ? usage : null,
  });
}
