// An attempt's use of each part of its budget, from its ledger. Unknown is null, never 0. Pure.
import { counted } from "@mlrb/core/text/counted";
import { formatDuration } from "@mlrb/core/text/units";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { UsedPrice } from "@mlrb/formats/attempt/used-price";
import { plainText } from "../read/plain-text.ts";
import { reachedWords, servedWords } from "../read/served-words.ts";
import { waitWords } from "./event-words.ts";

export type BudgetPart = {
  name: string;
  /** null: not counted. */
  used: number | null;
  /** null: not limited. */
  limit: number | null;
  words: string;
};

export function budgetParts(ledger: Ledger | null): BudgetPart[] {
  if (ledger === null) return [];
  const { budget: limits, usage, waitedMs = {}, prices = [], talking } = ledger;
  const waited = Object.entries(waitedMs).filter(([, ms]) => ms > 0);
  const calls = usage ? ` in ${usage.calls} model calls` : "";
  const uncounted = usage && usage.uncounted > 0 ? `, ${usage.uncounted} of them uncounted` : "";
  const { inputTokens = 0, outputTokens = 0 } = usage?.estimated ?? {};
  const mostTokens = inputTokens + outputTokens;
  const atMost = mostTokens > 0 ? `, counted by limits as at most ${mostTokens} tokens` : "";
  return [
    part("working time", ledger.workingMs, limits.wallMs, formatDuration),
    part("wall time", ledger.wallMs, null, formatDuration),
    ...waited.map(([why, ms]) => part(`waited for ${waitWords(why)}`, ms, null, formatDuration)),
    part("tokens", ledger.tokens, limits.tokens ?? null, String, `${calls}${uncounted}${atMost}`),
    part("dollars", ledger.dollars, limits.dollars ?? null, (amount) => amount.toFixed(4)),
    ...(talking ? [told("of these, talking", talkingWords(talking))] : []),
    ...pricesPart(prices),
    ...(usage?.reached ? [told("reach", plainText(reachedWords(usage.reached)))] : []),
    ...(usage?.served ? [told("models", plainText(servedWords(usage.served), 2000))] : []),
    part("GPU hours", ledger.gpuHours, null, (hours) => hours.toFixed(2)),
    // an unknown value needs a line only where GPUs were held
    ...(ledger.gpuHours > 0 || ledger.gpuBusyMs !== null
      ? [part("GPU busy", ledger.gpuBusyMs, null, formatDuration)]
      : []),
    ...(ledger.gpuMemoryPeakMiB === undefined
      ? []
      : [part("GPU memory", ledger.gpuMemoryPeakMiB, null, (peak) => `${peak} MiB at the polled peak`)]),
  ];
}

/** `openai m 1.25 in, 10 out (--price of run R)`: dollars for a million tokens. */
function pricesPart(prices: UsedPrice[]): BudgetPart[] {
  if (prices.length === 0) return [];
  const one = ({ provider, model, input, output, source, asOf }: UsedPrice) => {
    const day = asOf === undefined ? "" : `, ${asOf}`;
    return plainText(`${provider} ${model} ${input} in, ${output} out (${source}${day})`);
  };
  return [told("prices", `per million tokens: ${prices.slice(0, 50).map(one).join("; ")}`)];
}

function talkingWords({ calls, inputTokens, outputTokens, dollars }: NonNullable<Ledger["talking"]>): string {
  const price = dollars === null ? "price unknown" : `${dollars.toFixed(4)} dollars`;
  return `${counted(calls, "model call")} whose answers asked for the message board only: ${inputTokens + outputTokens} tokens, ${price}`;
}

/** A part without a number. */
function told(name: string, words: string): BudgetPart {
  return { name, used: null, limit: null, words };
}

function part(
  name: string,
  used: number | null,
  limit: number | null,
  text: (value: number) => string,
  after = "",
): BudgetPart {
  const of = limit === null ? "" : ` of ${text(limit)}`;
  const percent =
    used !== null && limit !== null && limit > 0 ? ` (${Math.round((100 * used) / limit)} %)` : "";
  return { name, used, limit, words: `${used === null ? "unknown" : text(used)}${of}${percent}${after}` };
}
