// Answers in Google's generateContent protocol, whole, as events, or as one list of pieces:
// ai.google.dev/api/generate-content
import type { Json } from "@mlrb/kit/stage";
import { type AnswerReader, at, countAt, emptyAnswer, listAt, textAt } from "./heard-answer.ts";

const refusals = ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"];

export function readGoogle(): AnswerReader {
  const heard = emptyAnswer();
  const piece = (value: Json) => {
    const error = at(value, "error");
    if (error) heard.complaint = textAt(error, "message") || "an error";
    heard.answeredBy = textAt(value, "modelVersion") || heard.answeredBy;
    const usage = at(value, "usageMetadata");
    const input = countAt(usage, "promptTokenCount");
    if (input !== null) {
      const thoughts = countAt(usage, "thoughtsTokenCount");
      heard.usage = {
        inputTokens: input + (countAt(usage, "toolUsePromptTokenCount") ?? 0),
        outputTokens: (countAt(usage, "candidatesTokenCount") ?? 0) + (thoughts ?? 0),
        cachedInputTokens: countAt(usage, "cachedContentTokenCount"),
        reasoningTokens: thoughts,
      };
    }
    for (const part of listAt(value, "candidates", 0, "content", "parts")) {
      const text = textAt(part, "text");
      if (at(part, "thought") === true) heard.reasoning = (heard.reasoning ?? "") + text;
      else heard.text += text;
      const call = at(part, "functionCall");
      if (call)
        heard.toolCalls.push({
          id: textAt(call, "id"),
          name: textAt(call, "name"),
          input: JSON.stringify(at(call, "args") ?? {}),
        });
    }
    const blocked = textAt(value, "promptFeedback", "blockReason");
    const reason = blocked ? "SAFETY" : textAt(value, "candidates", 0, "finishReason");
    if (!reason) return;
    heard.whole = true;
    if (refusals.includes(reason)) heard.finish = "refusal";
    else if (reason === "MAX_TOKENS") heard.finish = "length";
    else if (reason === "STOP") heard.finish = heard.toolCalls.length > 0 ? "tool-calls" : "stop";
  };
  return {
    take: (value) => (Array.isArray(value) ? value : [value]).forEach(piece),
    heard: () => ({ ...heard }),
  };
}
