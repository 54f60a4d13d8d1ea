// What one model call is charged: what its provider reported, as far as that can be believed, and where nothing
// reliable was reported an upper estimate, which is what limits of tokens and dollars count. Both are kept apart in
// the ledger. Pure.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";

/** What a call can take at most. */
export type CallBound = { inputTokens: number; outputTokens: number };

export type CallCharge = {
  /** As the provider reported it; null: it reported none, or one that cannot be. */
  usage: ModelUsage | null;
  /** Of `usage`; null: unknown. */
  dollars: number | null;
  answered: boolean;
  /** What limits count on top of it, since the provider's report is missing or tells a part only. `dollars` is null where no price is known. */
  estimated?: { inputTokens: number; outputTokens: number; dollars: number | null };
};

/** English has 4 bytes to a token, code 3, digits and other scripts 2 and more. */
const bytesPerTokenLeast = 2;
/** Output of a call that says no limit. */
const outputTokensUnsaid = 32_000;
/** In one call, of input or output: no context of any model holds as many. */
export const tokensAbsurd = 20_000_000;

export const noUsage: ModelUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
};

/** `answers`: how many the request asks for at once. */
export function callBound({
  requestBytes,
  outputTokensMax,
  answers = 1,
}: {
  requestBytes: number;
  outputTokensMax: number | undefined;
  answers?: number;
}): CallBound {
  const most = isCount(outputTokensMax) && outputTokensMax > 0 ? outputTokensMax : outputTokensUnsaid;
  const times = isCount(answers) && answers > 0 ? Math.min(answers, 100) : 1;
  return {
    inputTokens: Math.ceil(requestBytes / bytesPerTokenLeast),
    outputTokens: Math.min(most, tokensAbsurd) * times,
  };
}

/** As it is dearest: all of the prompt written to a cache. */
export function boundUsage(bound: CallBound): ModelUsage {
  return { ...noUsage, ...bound, cacheWrittenTokens: bound.inputTokens };
}

/** The usage as it can be believed: null where a count is negative, no integer, absurd, or zero for all of a prompt. */
export function soundUsage(reported: ModelUsage | null): ModelUsage | null {
  if (reported === null) return null;
  const { inputTokens, outputTokens } = reported;
  if (!isCount(inputTokens) || !isCount(outputTokens) || inputTokens === 0) return null;
  // a part that is larger than its whole tells nothing; it is charged like the rest then
  const partOf = (whole: number, part: number | null | undefined) =>
    isCount(part) && part <= whole ? part : null;
  const cached = partOf(inputTokens, reported.cachedInputTokens);
  const written = partOf(inputTokens - (cached ?? 0), reported.cacheWrittenTokens);
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: cached,
    ...(written !== null && { cacheWrittenTokens: written }),
    reasoningTokens: partOf(outputTokens, reported.reasoningTokens),
  };
}

type Reported = {
  usage: ModelUsage | null;
  answered: boolean;
  /** `none`: it failed so that nothing was spent. */
  tokens: "none" | "maybe";
};

/** `priced`: in dollars; null where no price is known. */
export function callCharge(
  { usage: reported, answered, tokens }: Reported,
  bound: CallBound,
  priced: (usage: ModelUsage) => number | null,
): CallCharge {
  const usage = soundUsage(reported);
  if (usage === null && tokens === "none") return { usage: noUsage, dollars: 0, answered };
  const dollars = usage === null ? (isFree(priced) ? 0 : null) : priced(usage);
  if (usage !== null && (answered || tokens === "none")) return { usage, dollars, answered };
  // an answer that broke off was counted as far as it had come, and may be billed to its end
  const inputTokens = usage?.inputTokens ?? bound.inputTokens;
  const outputTokens = Math.max(bound.outputTokens, usage?.outputTokens ?? 0);
  const most = priced(boundUsage({ inputTokens, outputTokens }));
  const estimated = {
    inputTokens: usage === null ? inputTokens : 0,
    outputTokens: outputTokens - (usage?.outputTokens ?? 0),
    dollars: most === null ? null : Math.max(0, most - (dollars ?? 0)),
  };
  return { usage, dollars, answered, estimated };
}

/** Uncounted tokens cost nothing only where all of them do. */
function isFree(priced: (usage: ModelUsage) => number | null): boolean {
  return priced({ ...noUsage, inputTokens: 1, outputTokens: 1 }) === 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokensAbsurd;
}
