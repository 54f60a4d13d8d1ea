// Reads answers in Google's generateContent protocol, whole, as events, or as one list of pieces:
// ai.google.dev/api/generate-content
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { at, countAt, listAt, textAt } from "../model/json-text.ts";
import {
  type AnswerReader,
  addSurcharge,
  emptyAnswer,
  type HeardAnswer,
  tierSurcharge,
} from "./heard-answer.ts";

const refusals = ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"];

export function readGoogle(): AnswerReader {
  const heard = emptyAnswer();
  return {
    take(value) {
      for (const piece of Array.isArray(value) ? value : [value]) takePiece(heard, piece);
    },
    heard() {
      // Google leaves zeros out, so a missing count of output means 0 only if no output came
      const uncounted = heard.usage?.outputTokens === 0 && (heard.text !== "" || heard.toolCalls.length > 0);
      return { ...heard, usage: uncounted ? null : heard.usage };
    },
  };
}

function takePiece(heard: HeardAnswer, piece: Json): void {
  if (at(piece, "error")) heard.complaint = piece;
  heard.answeredBy = textAt(piece, "modelVersion") || heard.answeredBy;
  heard.usage = usageOf(at(piece, "usageMetadata")) ?? heard.usage;
  addSurcharge(heard, surchargeOf(piece));
  for (const part of listAt(piece, "candidates", 0, "content", "parts")) {
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
  const blocked = textAt(piece, "promptFeedback", "blockReason");
  const reason = blocked ? "SAFETY" : textAt(piece, "candidates", 0, "finishReason");
  if (!reason) return;
  heard.whole = true;
  if (refusals.includes(reason)) heard.finish = "refusal";
  else if (reason === "MAX_TOKENS") heard.finish = "length";
  else if (reason === "STOP") heard.finish = heard.toolCalls.length > 0 ? "tool-calls" : "stop";
}

function isGrounded(candidate: Json): boolean {
  const queries = listAt(candidate, "groundingMetadata", "webSearchQueries");
  const chunks = listAt(candidate, "groundingMetadata", "groundingChunks");
  return queries.length > 0 || chunks.some((chunk) => (at(chunk, "maps") ?? null) !== null);
}

function surchargeOf(piece: Json): string | null {
  const usage = at(piece, "usageMetadata");
  if (listAt(piece, "candidates").some(isGrounded)) return "a search";
  const kinds = (name: string) => listAt(usage, name).map((one) => textAt(one, "modality"));
  const dear = [
    ...kinds("promptTokensDetails").filter((kind) => kind === "AUDIO"),
    ...kinds("candidatesTokensDetails").filter(
      (kind) => !["", "TEXT", "MODALITY_UNSPECIFIED"].includes(kind),
    ),
  ][0];
  if (dear !== undefined) return `tokens of ${dear.slice(0, 100)}`;
  return tierSurcharge(textAt(usage, "serviceTier") || textAt(usage, "trafficType"));
}

function usageOf(usage: Json | undefined): ModelUsage | undefined {
  const input = countAt(usage, "promptTokenCount");
  if (input === null) return undefined;
  // zeros are left out; a value that is no count makes the sum unknown
  const part = (name: string) => (at(usage, name) === undefined ? 0 : (countAt(usage, name) ?? Number.NaN));
  return {
    inputTokens: input + part("toolUsePromptTokenCount"),
    outputTokens: part("candidatesTokenCount") + part("thoughtsTokenCount"),
    cachedInputTokens: countAt(usage, "cachedContentTokenCount"),
    reasoningTokens: countAt(usage, "thoughtsTokenCount"),
  };
}
