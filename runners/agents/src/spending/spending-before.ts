// What a meter starts from: nothing, or the spending that an attempt's earlier supervisor left on disk. Pure.
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import type { Spending } from "../attempt/meter.ts";

export type CallMost = { tokens: number; dollars: number };

type Before = { spent: Spending; counted: CallMost; unbilled: number };

export function nothingSpent(): Before {
  const none = { inputTokens: 0, outputTokens: 0, dollars: 0 };
  return {
    spent: {
      ...{ calls: 0, failedTries: 0, uncounted: 0, ...none, cachedInputTokens: 0, reasoningTokens: 0 },
      estimated: { calls: 0, answers: 0, ...none },
      waitedMs: {},
    },
    counted: { tokens: 0, dollars: 0 },
    unbilled: 0,
  };
}

/** The calls that were in flight may be billed: each counts as a failed try, by its upper estimate. */
export function spentBefore({ inFlight, counted, ...line }: LastSpending): Before {
  const { workingMs: _, sinceStartMs: __, formatVersion: ___, ...spent } = line;
  const estimated = spent.estimated ?? nothingSpent().spent.estimated;
  const known = counted ?? { tokens: tokensOf(spent) + tokensOf(estimated), dollars: spent.dollars ?? 0 };
  if (!inFlight) return { spent: { ...spent, estimated }, counted: { ...known }, unbilled: 0 };
  const { calls, dollars, tokens = 0 } = inFlight;
  return {
    spent: {
      ...spent,
      failedTries: spent.failedTries + calls,
      uncounted: spent.uncounted + calls,
      estimated: {
        ...estimated,
        calls: estimated.calls + calls,
        inputTokens: estimated.inputTokens + tokens,
        dollars: estimated.dollars === null ? null : estimated.dollars + dollars,
      },
    },
    counted: { tokens: known.tokens + tokens, dollars: known.dollars + dollars },
    unbilled: dollars,
  };
}

export function tokensOf(usage: { inputTokens: number; outputTokens: number } | null | undefined): number {
  return usage ? usage.inputTokens + usage.outputTokens : 0;
}
