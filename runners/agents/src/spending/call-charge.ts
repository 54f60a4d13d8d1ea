// The charge of one model call: the usage that its provider reported, as far as it is plausible. Without a
// reliable report, limits of tokens and dollars count an upper estimate. The ledger keeps both apart. Pure.
import type { ServedModel } from "@mlrb/formats/attempt/ledger";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";

/** The most that a call can cost. */
export type CallBound = { inputTokens: number; outputTokens: number };

export type CallCharge = {
  /** As the provider reported it; null without a plausible report. */
  usage: ModelUsage | null;
  /** Of `usage`; null if unknown. */
  dollars: number | null;
  answered: boolean;
  /** What limits count in addition if the report is missing or partial. `dollars` is null without a known price. */
  estimated?: { inputTokens: number; outputTokens: number; dollars: number | null };
  /** What shows that the provider searched or fetched, though the attempt has no network. */
  reached?: string;
  /** Of an answer. */
  served?: Omit<ServedModel, "calls">;
};

/** What usage costs, in dollars; null without a known price. */
export type Pricing = {
  priced(usage: ModelUsage): number | null;
  /** What limits count for an answer whose price is unknown though that of the requested model is known. */
  most?(usage: ModelUsage): number | null;
};

/** English has 4 bytes a token, code 3, digits and other scripts 2 and more. */
export const bytesPerTokenLeast = 2;
/** Output of a call without a limit. */
const outputTokensUnsaid = 32_000;
/** In one call, of input or output: no model has such a context. */
export const tokensAbsurd = 20_000_000;

export const noUsage: ModelUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
};

/**
 * The most output tokens of a call with a preset's settings; undefined: the preset sets no limit. Clients add a
 * budget for thinking to the limit of the answer.
 */
export function outputTokensMaxOf({
  maxOutputTokens,
  options,
}: Pick<ModelSpec, "maxOutputTokens" | "options">): number | undefined {
  return maxOutputTokens === undefined ? undefined : maxOutputTokens + thinkingTokens(options);
}

function thinkingTokens(options: unknown): number {
  if (typeof options !== "object" || options === null) return 0;
  return Object.entries(options).reduce(
    (sum, [name, value]) =>
      sum +
      (/^(thinking_?)?budget(_?tokens)?$/i.test(name) && isCount(value) ? value : thinkingTokens(value)),
    0,
  );
}

/** `answers`: how many answers the request asks for. */
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

/** At the highest price: all of the prompt written to a cache. */
export function boundUsage(bound: CallBound): ModelUsage {
  return { ...noUsage, ...bound, cacheWrittenTokens: bound.inputTokens };
}

/** The plausible usage: null if a count is negative, no integer, absurd, or zero for all of a prompt. */
export function soundUsage(reported: ModelUsage | null): ModelUsage | null {
  if (reported === null) return null;
  const { inputTokens, outputTokens } = reported;
  if (!isCount(inputTokens) || !isCount(outputTokens) || inputTokens === 0) return null;
  // a part that is larger than its whole is dropped and charged like the rest
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
  /** `none`: the failure is known to have cost nothing. */
  tokens: "none" | "maybe";
};

/** `mostOf`: see `Pricing.most`. */
export function callCharge(
  { usage: reported, answered, tokens }: Reported,
  bound: CallBound,
  priced: Pricing["priced"],
  mostOf: Pricing["priced"] = () => null,
): CallCharge {
  const usage = soundUsage(reported);
  if (usage === null && tokens === "none") return { usage: noUsage, dollars: 0, answered };
  const dollars = usage === null ? (isFree(priced) ? 0 : null) : priced(usage);
  if (usage !== null && (answered || tokens === "none")) {
    const most = dollars === null ? mostOf(usage) : null;
    if (most === null) return { usage, dollars, answered };
    return { usage, dollars, answered, estimated: { inputTokens: 0, outputTokens: 0, dollars: most } };
  }
  // an answer that broke off was counted up to that point, and may be billed to its end
  const inputTokens = usage?.inputTokens ?? bound.inputTokens;
  const outputTokens = Math.max(bound.outputTokens, usage?.outputTokens ?? 0);
  const whole = boundUsage({ inputTokens, outputTokens });
  const most = priced(whole) ?? mostOf(whole);
  const estimated = {
    inputTokens: usage === null ? inputTokens : 0,
    outputTokens: outputTokens - (usage?.outputTokens ?? 0),
    dollars: most === null ? null : Math.max(0, most - (dollars ?? 0)),
  };
  return { usage, dollars, answered, estimated };
}

/** Uncounted tokens cost nothing only if all tokens do. */
function isFree(priced: Pricing["priced"]): boolean {
  return priced({ ...noUsage, inputTokens: 1, outputTokens: 1 }) === 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokensAbsurd;
}
