// Reads answers in Google's generateContent protocol, whole, as events, or as one list of pieces:
// ai.google.dev/api/generate-content
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { at, countAt, listAt, nameAt, reportedCount, textAt } from "../../model/json-text.ts";
import {
  type AnswerReader,
  addSurcharge,
  addUsage,
  emptyAnswer,
  type HeardAnswer,
  tierSurcharge,
  wholeUsage,
  withCountedOutput,
} from "./heard-answer.ts";

const refusals = ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"];

export function readGoogle(): AnswerReader {
  const heard = emptyAnswer();
  return {
    take(value) {
      for (const piece of Array.isArray(value) ? value : [value]) takePiece(heard, piece);
    },
    // Google leaves zeros out, so a missing count of output means 0 only if no output came
    heard: () => withCountedOutput({ ...heard }),
  };
}

function takePiece(heard: HeardAnswer, piece: Json): void {
  if (at(piece, "error")) heard.complaint = piece;
  heard.answeredBy = nameAt(piece, "modelVersion") || heard.answeredBy;
  addUsage(heard, usageOf(at(piece, "usageMetadata")));
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
  const kinds = (name: string) => listAt(usage, name).map((one) => nameAt(one, "modality"));
  const dear = [
    ...kinds("promptTokensDetails").filter((kind) => ["AUDIO", "VIDEO"].includes(kind)),
    ...kinds("candidatesTokensDetails").filter(
      (kind) => !["", "TEXT", "MODALITY_UNSPECIFIED"].includes(kind),
    ),
  ][0];
  if (dear !== undefined) return `tokens of ${dear.slice(0, 100)}`;
  return tierSurcharge(nameAt(usage, "serviceTier") || nameAt(usage, "trafficType"));
}

function usageOf(usage: Json | undefined): ModelUsage | undefined {
  const prompt = reportedCount(usage, "promptTokenCount");
  if (prompt === null) return undefined;
  const part = (name: string) => reportedCount(usage, name) ?? 0; // zeros are left out
  return wholeUsage({
    inputTokens: prompt + part("toolUsePromptTokenCount"),
    outputTokens: part("candidatesTokenCount") + part("thoughtsTokenCount"),
    cachedInputTokens: countAt(usage, "cachedContentTokenCount"),
    reasoningTokens: countAt(usage, "thoughtsTokenCount"),
    totalTokens: countAt(usage, "totalTokenCount") ?? 0,
  });
}
