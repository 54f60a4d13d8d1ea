// Numbers and times as Inspect counts and spells them. Pure.
import type { Usage } from "./first-look.ts";

/** Inspect counts cached input apart, we within; an unknown price is left out, never 0. */
export function usageOf({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  reasoningTokens,
  dollars,
}: Omit<Usage, "calls" | "uncounted">) {
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens),
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_cache_read: cachedInputTokens,
    reasoning_tokens: reasoningTokens,
    ...(dollars !== null && { total_cost: dollars }),
  };
}

export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** As Python spells it, so that nothing differs when it is written again. */
export function utc(time: string): string {
  const [whole, fraction] = new Date(time).toISOString().slice(0, -1).split(".") as [string, string];
  return `${whole}${fraction === "000" ? "" : `.${fraction}000`}+00:00`;
}
