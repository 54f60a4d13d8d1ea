// Reads answers in OpenAI's chat completions protocol, which many other servers speak:
// platform.openai.com/docs/api-reference/chat
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { at, countAt, listAt, textAt } from "../model/json-text.ts";
import { type AnswerReader, addReasoning, emptyAnswer, finishOf, type HeardCall } from "./heard-answer.ts";

const finishes = {
  stop: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  content_filter: "refusal",
} as const;

const chatCounts = { input: "prompt_tokens", output: "completion_tokens" };

export function readOpenaiChat(): AnswerReader {
  const heard = emptyAnswer();
  const calls = new Map<number, HeardCall>();
  let refused = false;
  return {
    take(value) {
      heard.answeredBy = textAt(value, "model") || heard.answeredBy;
      if (at(value, "error")) heard.complaint = value;
      heard.usage = openaiUsage(at(value, "usage"), chatCounts) ?? heard.usage;
      const choice = at(value, "choices", 0);
      const message = at(choice, "message") ?? at(choice, "delta");
      heard.text += textAt(message, "content") + textAt(message, "refusal");
      refused ||= textAt(message, "refusal") !== "";
      addReasoning(heard, textAt(message, "reasoning_content") || textAt(message, "reasoning"));
      for (const [place, one] of listAt(message, "tool_calls").entries()) {
        const index = countAt(one, "index") ?? place;
        const call = calls.get(index) ?? { id: "", name: "", input: "" };
        call.id ||= textAt(one, "id");
        call.name += textAt(one, "function", "name");
        call.input += textAt(one, "function", "arguments");
        calls.set(index, call);
      }
      const reason = textAt(choice, "finish_reason");
      if (!reason) return;
      heard.whole = true;
      heard.finish = finishOf(finishes, reason);
    },
    heard: () => ({
      ...heard,
      finish: refused ? "refusal" : heard.finish,
      toolCalls: [...calls.values()],
    }),
  };
}

/** The names of OpenAI's counts differ by protocol. Undefined without counts of input and output. */
export function openaiUsage(
  usage: Json | undefined,
  { input, output }: { input: string; output: string },
): ModelUsage | undefined {
  const inputTokens = countAt(usage, input);
  const outputTokens = countAt(usage, output);
  if (inputTokens === null || outputTokens === null) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: countAt(usage, `${input}_details`, "cached_tokens"),
    reasoningTokens: countAt(usage, `${output}_details`, "reasoning_tokens"),
  };
}
