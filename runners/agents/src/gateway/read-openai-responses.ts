// Answers in OpenAI's responses protocol. The last event of a stream holds the whole answer, so that only a stream
// that was cut is read from its pieces: platform.openai.com/docs/api-reference/responses-streaming
import type { Json } from "@mlrb/kit/stage";
import {
  type AnswerReader,
  at,
  countAt,
  emptyAnswer,
  type HeardAnswer,
  listAt,
  textAt,
} from "./heard-answer.ts";

export function readOpenaiResponses(): AnswerReader {
  let pieces = "";
  let last: HeardAnswer | undefined;
  let complaint: Json | null = null;
  let answeredBy: string | null = null;
  return {
    take(value) {
      if (at(value, "object") === "response") {
        last = whole(value);
        return;
      }
      const type = textAt(value, "type");
      if (type === "response.output_text.delta") pieces += textAt(value, "delta");
      else if (type === "error") complaint = value;
      else if (type === "response.created") answeredBy = textAt(value, "response", "model") || null;
      else if (["response.completed", "response.incomplete", "response.failed"].includes(type))
        last = whole(at(value, "response") ?? null);
    },
    heard: () => {
      const heard = last ?? { ...emptyAnswer(), text: pieces, answeredBy };
      return { ...heard, complaint: heard.complaint ?? complaint };
    },
  };
}

function whole(response: Json): HeardAnswer {
  const heard = emptyAnswer();
  const status = textAt(response, "status");
  heard.answeredBy = textAt(response, "model") || null;
  heard.whole = status !== "failed";
  if (status === "failed") heard.complaint = { response };
  let refused = false;
  for (const item of listAt(response, "output")) {
    const type = textAt(item, "type");
    for (const part of listAt(item, "content")) {
      heard.text += textAt(part, "text") + textAt(part, "refusal");
      refused ||= at(part, "type") === "refusal";
    }
    for (const part of listAt(item, "summary"))
      heard.reasoning = (heard.reasoning ?? "") + textAt(part, "text");
    const input = textAt(item, "arguments") || textAt(item, "input");
    const action = at(item, "action"); // of local_shell_call
    if (type.endsWith("_call"))
      heard.toolCalls.push({
        id: textAt(item, "call_id"),
        name: textAt(item, "name") || type.replace(/_call$/, ""),
        input: input || (action ? JSON.stringify(action) : ""),
      });
  }
  const usage = at(response, "usage");
  const input = countAt(usage, "input_tokens");
  const output = countAt(usage, "output_tokens");
  if (input !== null && output !== null)
    heard.usage = {
      inputTokens: input,
      outputTokens: output,
      cachedInputTokens: countAt(usage, "input_tokens_details", "cached_tokens"),
      reasoningTokens: countAt(usage, "output_tokens_details", "reasoning_tokens"),
    };
  heard.finish = refused
    ? "refusal"
    : status === "incomplete"
      ? "length"
      : heard.toolCalls.length > 0
        ? "tool-calls"
        : "stop";
  return heard;
}
