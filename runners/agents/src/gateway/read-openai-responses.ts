// Reads answers in OpenAI's responses protocol. The last event of a stream holds the whole answer, so only a stream
// that was cut is read from its pieces: platform.openai.com/docs/api-reference/responses-streaming
import type { Json } from "@mlrb/kit/stage";
import { at, listAt, textAt } from "../model/json-text.ts";
import { type AnswerReader, emptyAnswer, type HeardAnswer } from "./heard-answer.ts";
import { openaiUsage } from "./read-openai-chat.ts";

const counts = { input: "input_tokens", output: "output_tokens" };

export function readOpenaiResponses(): AnswerReader {
  let pieces = "";
  let last: HeardAnswer | undefined;
  let complaint: Json | null = null;
  let answeredBy: string | null = null;
  return {
    take(value) {
      if (at(value, "object") === "response") {
        last = wholeAnswer(value);
        return;
      }
      const type = textAt(value, "type");
      if (type === "response.output_text.delta") pieces += textAt(value, "delta");
      else if (type === "error") complaint = value;
      else if (type === "response.created") answeredBy = textAt(value, "response", "model") || null;
      else if (["response.completed", "response.incomplete", "response.failed"].includes(type))
        last = wholeAnswer(at(value, "response") ?? null);
    },
    heard: () => {
      const heard = last ?? { ...emptyAnswer(), text: pieces, answeredBy };
      return { ...heard, complaint: heard.complaint ?? complaint };
    },
  };
}

function wholeAnswer(response: Json): HeardAnswer {
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
  heard.usage = openaiUsage(at(response, "usage"), counts) ?? null;
  const calls = heard.toolCalls.length > 0;
  if (refused) heard.finish = "refusal";
  else if (status === "incomplete") heard.finish = "length";
  else heard.finish = calls ? "tool-calls" : "stop";
  return heard;
}
