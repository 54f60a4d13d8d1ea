// Answers in OpenAI's chat completions protocol, which many other servers speak:
// platform.openai.com/docs/api-reference/chat
import { type AnswerReader, at, countAt, emptyAnswer, listAt, textAt } from "./heard-answer.ts";

const finishes = {
  stop: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  content_filter: "refusal",
} as const;

export function readOpenaiChat(): AnswerReader {
  const heard = emptyAnswer();
  const calls = new Map<number, { id: string; name: string; input: string }>();
  let refused = false;
  return {
    take(value) {
      heard.answeredBy = textAt(value, "model") || heard.answeredBy;
      if (at(value, "error")) heard.complaint = value;
      const usage = at(value, "usage");
      const input = countAt(usage, "prompt_tokens");
      const output = countAt(usage, "completion_tokens");
      if (input !== null && output !== null)
        heard.usage = {
          inputTokens: input,
          outputTokens: output,
          cachedInputTokens: countAt(usage, "prompt_tokens_details", "cached_tokens"),
          reasoningTokens: countAt(usage, "completion_tokens_details", "reasoning_tokens"),
        };
      const choice = at(value, "choices", 0);
      const said = at(choice, "message") ?? at(choice, "delta");
      heard.text += textAt(said, "content") + textAt(said, "refusal");
      refused ||= textAt(said, "refusal") !== "";
      const thought = textAt(said, "reasoning_content") || textAt(said, "reasoning");
      if (thought) heard.reasoning = (heard.reasoning ?? "") + thought;
      listAt(said, "tool_calls").forEach((one, place) => {
        const index = countAt(one, "index") ?? place;
        const call = calls.get(index) ?? { id: "", name: "", input: "" };
        call.id ||= textAt(one, "id");
        call.name += textAt(one, "function", "name");
        call.input += textAt(one, "function", "arguments");
        calls.set(index, call);
      });
      const reason = textAt(choice, "finish_reason");
      if (!reason) return;
      heard.whole = true;
      heard.finish = finishes[reason as keyof typeof finishes] ?? "other";
    },
    heard: () => ({
      ...heard,
      finish: refused ? "refusal" : heard.finish,
      toolCalls: [...calls.values()],
    }),
  };
}
