// What an attempt used of each part of its budget, by its ledger. Unknown is null, never 0. Pure.
import { formatDuration } from "@mlrb/core/units";
import type { Ledger } from "@mlrb/kit/rules/ledger";
import { plainText } from "../plain-text.ts";
import { waitWords } from "./event-words.ts";

export type BudgetPart = {
  name: string;
  /** null: nobody counted it. */
  used: number | null;
  /** null: it was not limited. */
  limit: number | null;
  words: string;
};

/** A ledger as later versions of its format write it: the fields that today's type does not have. */
type More = {
  budget: { tokens?: unknown; dollars?: unknown; gpuHours?: unknown };
  usage?: unknown;
  waitedMs?: unknown;
  prices?: unknown;
};

export function budgetParts(ledger: Ledger | null): BudgetPart[] {
  if (ledger === null) return [];
  const more = ledger as unknown as More;
  const limits = more.budget ?? {};
  const waited = Object.entries(Object(more.waitedMs) as Record<string, unknown>).filter(
    (one): one is [string, number] => typeof one[1] === "number" && one[1] > 0,
  );
  const usage = Object(more.usage) as Record<string, unknown>;
  const calls = typeof usage.calls === "number" ? ` in ${usage.calls} model calls` : "";
  const uncounted =
    typeof usage.uncounted === "number" && usage.uncounted > 0
      ? `, ${usage.uncounted} of them uncounted`
      : "";
  const estimated = Object(usage.estimated) as Record<string, unknown>;
  const [input, output] = [number(estimated.inputTokens), number(estimated.outputTokens)];
  const mostTokens = (input ?? 0) + (output ?? 0);
  const atMost = mostTokens > 0 ? `, which limits count as ${mostTokens} tokens at most` : "";
  return [
    part("working time", ledger.workingMs, ledger.budget?.wallMs ?? null, formatDuration),
    part("wall time", ledger.wallMs, null, formatDuration),
    ...waited.map(([why, ms]) => part(`waited for ${waitWords(why)}`, ms, null, formatDuration)),
    part(
      "tokens",
      ledger.tokens,
      number(limits.tokens),
      (count) => String(count),
      `${calls}${uncounted}${atMost}`,
    ),
    part("dollars", ledger.dollars, number(limits.dollars), (amount) => amount.toFixed(4)),
    ...pricesPart(more.prices),
    part("GPU hours", ledger.gpuHours, number(limits.gpuHours), (hours) => hours.toFixed(2)),
    // unknown is only worth a line where GPUs were held
    ...(ledger.gpuHours > 0 || typeof ledger.gpuBusyMs === "number"
      ? [part("GPU busy", ledger.gpuBusyMs, null, formatDuration)]
      : []),
  ];
}

/** `openai m 1.25 in, 10 out (--price of run R)`: dollars for a million tokens. */
function pricesPart(prices: unknown): BudgetPart[] {
  if (!Array.isArray(prices) || prices.length === 0) return [];
  const one = (price: unknown) => {
    const { provider, model, input, output, source, asOf } = Object(price) as Record<string, unknown>;
    const day = typeof asOf === "string" ? `, ${asOf}` : "";
    return plainText(`${provider} ${model} ${input} in, ${output} out (${source}${day})`);
  };
  const words = `for a million tokens: ${prices.slice(0, 50).map(one).join("; ")}`;
  return [{ name: "prices", used: null, limit: null, words }];
}

function part(
  name: string,
  used: number | null | undefined,
  limit: number | null,
  text: (value: number) => string,
  after = "",
): BudgetPart {
  const known = used ?? null;
  const of = limit === null ? "" : ` of ${text(limit)}`;
  const percent =
    known !== null && limit !== null && limit > 0 ? ` (${Math.round((100 * known) / limit)} %)` : "";
  return {
    name,
    used: known,
    limit,
    words: `${known === null ? "unknown" : text(known)}${of}${percent}${after}`,
  };
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
