// What a provider's answer says, in any of the four protocols, whole or in pieces: for the record and the ledger.
// Nothing here changes what the program is sent.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import type { ModelResponse } from "../../model/model-client.ts";

export type HeardCall = { id: string; name: string; input: string };

export type HeardAnswer = Omit<ModelResponse, "toolCalls" | "raw"> & {
  toolCalls: HeardCall[];
  /**
   * What the provider says it served that has a price of its own: a tier, a region, a tool, sound. Absent: the
   * standard price holds.
   */
  surcharge?: string;
  /** The field or type which shows that the provider searched, fetched a page or ran a tool. Absent without one. */
  reach?: string;
  /** Whether the provider marked the end of the answer. */
  whole: boolean;
  /** The provider's error, as it was written, in place of an answer or in the middle of one. */
  complaint: Json | null;
};

export type AnswerReader = {
  /** A whole answer, or one event of a stream. */
  take(value: Json): void;
  heard(): HeardAnswer;
};

export function emptyAnswer(): HeardAnswer {
  return {
    ...{ text: "", reasoning: null, toolCalls: [], finish: "other", usage: null },
    ...{ answeredBy: null, whole: false, complaint: null },
  };
}

/** Appends to the reasoning, which stays null without any. */
export function addReasoning(heard: HeardAnswer, text: string): void {
  if (text !== "") heard.reasoning = (heard.reasoning ?? "") + text;
}

/** A stream may report usage several times. Sums only grow, so the largest counts of input and output hold. */
export function addUsage(heard: HeardAnswer, reported: ModelUsage | undefined): void {
  if (reported === undefined) return;
  const { inputTokens = 0, outputTokens = 0 } = heard.usage ?? {};
  heard.usage = {
    ...reported,
    inputTokens: Math.max(inputTokens, reported.inputTokens),
    outputTokens: Math.max(outputTokens, reported.outputTokens),
  };
}

type ReportedUsage = ModelUsage & { totalTokens: number };

/**
 * Usage whose sums hold all of their parts. Some servers leave the tokens of a cache out of the input, or those of
 * reasoning out of the output; then a part, or the total, is larger than the sum.
 */
export function wholeUsage({ totalTokens, ...usage }: ReportedUsage): ModelUsage {
  const whole = (sum: number, part: number) => (part > sum ? sum + part : sum);
  const cached = (usage.cachedInputTokens ?? 0) + (usage.cacheWrittenTokens ?? 0);
  const inputTokens = whole(usage.inputTokens, cached);
  const outputTokens = whole(usage.outputTokens, usage.reasoningTokens ?? 0);
  return { ...usage, inputTokens, outputTokens: Math.max(outputTokens, totalTokens - inputTokens) };
}

/** `heard`, with an unknown usage if output came and none was counted. */
export function withCountedOutput(heard: HeardAnswer): HeardAnswer {
  const { usage, text, reasoning, toolCalls } = heard;
  const isEmpty = text === "" && (reasoning ?? "") === "" && toolCalls.length === 0;
  return usage?.outputTokens === 0 && !isEmpty ? { ...heard, usage: null } : heard;
}

export function addSurcharge(heard: HeardAnswer, surcharge: string | null): void {
  if (surcharge !== null) heard.surcharge = surcharge;
}

type Finish = HeardAnswer["finish"];

/** `finishes`: the protocol's reasons for an end. */
export function finishOf(finishes: Record<string, Finish>, reason: string): Finish {
  return (Object.hasOwn(finishes, reason) ? finishes[reason] : undefined) ?? "other";
}

/** Names of the tier that the gateway asks for. */
const standardTiers = ["", "auto", "default", "standard", "on_demand", "unspecified"];

/** The surcharge of a tier; null for the standard one. */
export function tierSurcharge(tier: string): string | null {
  return standardTiers.includes(tier.toLowerCase().replace(/^(service_tier|traffic_type)_/u, ""))
    ? null
    : `tier ${tier.slice(0, 100)}`;
}
