// Answers in Google's generateContent protocol, whole, as events, or as one list of pieces:
// ai.google.dev/api/generate-content
import type { Json } from "@mlrb/kit/stage";
import { type AnswerReader, at, countAt, emptyAnswer, listAt, textAt } from "./heard-answer.ts";

const refusals = ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"];

export function readGoogle(): AnswerReader {
  const heard = emptyAnswer();
  const piece = (value: Json) => {
    if (at(value, "error")) heard.complaint = value;
    heard.answeredBy = textAt(value, "modelVersion") || heard.answeredBy;
    const usage = at(value, "usageMetadata");
    const input = countAt(usage, "promptTokenCount");
    if (input !== null) {
      // what is zero is left out; what is there and no count makes the whole unknown
      const part = (name: string) =>
        at(usage, name) === undefined ? 0 : (countAt(usage, name) ?? Number.NaN);
      const thoughts = countAt(usage, "thoughtsTokenCount");
      heard.usage = {
        inputTokens: input + part("toolUsePromptTokenCount"),
        outputTokens: part("candidatesTokenCount") + part("thoughtsTokenCount"),
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
    heard() {
      // Google leaves zeros out: no count of output is one only where none came
      const uncounted = heard.usage?.outputTokens === 0 && (heard.text !== "" || heard.toolCalls.length > 0);
      return { ...heard, usage: uncounted ? null : heard.usage };
    },
  };
}
