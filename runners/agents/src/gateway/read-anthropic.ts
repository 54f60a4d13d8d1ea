// Answers in Anthropic's messages protocol: platform.claude.com/docs/en/build-with-claude/streaming
import type { Json } from "@mlrb/kit/stage";
import { type AnswerReader, at, countAt, emptyAnswer, listAt, textAt } from "./heard-answer.ts";

const finishes = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  refusal: "refusal",
} as const;

export function readAnthropic(): AnswerReader {
  const heard = emptyAnswer();
  const counts: Record<string, number> = {};
  const calls = new Map<number, { id: string; name: string; input: string }>();
  const count = (usage: Json | undefined) => {
    for (const name of [
      "input_tokens",
      "output_tokens",
      "cache_creation_input_tokens",
      "cache_read_input_tokens",
    ]) {
      const value = countAt(usage, name);
      // each event tells the sum so far; what is no count makes it unknown
      if (value !== null) counts[name] = value;
      else if (at(usage, name) !== undefined && at(usage, name) !== null) counts[name] = Number.NaN;
    }
  };
  const block = (value: Json, index: number) => {
    heard.text += textAt(value, "text");
    const thinking = textAt(value, "thinking");
    if (thinking) heard.reasoning = (heard.reasoning ?? "") + thinking;
    if (at(value, "type") !== "tool_use") return;
    const input = at(value, "input");
    const given = typeof input === "object" && input !== null && Object.keys(input).length > 0;
    const call = {
      id: textAt(value, "id"),
      name: textAt(value, "name"),
      input: given ? JSON.stringify(input) : "",
    };
    calls.set(index, call);
  };
  const begin = (message: Json | undefined) => {
    heard.answeredBy = textAt(message, "model") || heard.answeredBy;
    count(at(message, "usage"));
  };
  const end = (reason: string) => {
    if (reason) heard.finish = finishes[reason as keyof typeof finishes] ?? "other";
  };
  return {
    take(value) {
      switch (at(value, "type")) {
        case "message":
          begin(value);
          listAt(value, "content").forEach(block);
          end(textAt(value, "stop_reason"));
          heard.whole = true;
          return;
        case "message_start":
          return begin(at(value, "message"));
        case "content_block_start":
          return block(at(value, "content_block") ?? null, countAt(value, "index") ?? 0);
        case "content_block_delta": {
          heard.text += textAt(value, "delta", "text");
          const thinking = textAt(value, "delta", "thinking");
          if (thinking) heard.reasoning = (heard.reasoning ?? "") + thinking;
          const call = calls.get(countAt(value, "index") ?? 0);
          if (call) call.input += textAt(value, "delta", "partial_json");
          return;
        }
        case "message_delta":
          end(textAt(value, "delta", "stop_reason"));
          return count(at(value, "usage"));
        case "message_stop":
          heard.whole = true;
          return;
        case "error":
          heard.complaint = value;
          return;
        default: // a ping, the end of a block, or what is newer than this
          return;
      }
    },
    heard() {
      const { input_tokens: input, output_tokens: output } = counts;
      const cached = counts.cache_read_input_tokens ?? null;
      const usage = {
        inputTokens: (input ?? 0) + (counts.cache_creation_input_tokens ?? 0) + (cached ?? 0),
        outputTokens: output ?? 0,
        cachedInputTokens: cached,
        ...(counts.cache_creation_input_tokens !== undefined && {
          cacheWrittenTokens: counts.cache_creation_input_tokens,
        }),
        reasoningTokens: null,
      };
      const known = input !== undefined && output !== undefined;
      return {
        ...heard,
        toolCalls: [...calls.values()].map((call) => ({ ...call, input: call.input || "{}" })),
        usage: known ? usage : null,
      };
    },
  };
}
