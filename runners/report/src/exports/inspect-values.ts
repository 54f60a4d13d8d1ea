// Usage and times in Inspect's counting and spelling. Pure.
import type { Usage } from "./trajectory-walk.ts";

/** Inspect counts cached input separately, a ledger within the input. An unknown price is left out, never 0. */
export function usageOf(usage: Omit<Usage, "calls" | "uncounted">) {
  const { inputTokens, outputTokens, cachedInputTokens, dollars } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens),
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_cache_read: cachedInputTokens,
    reasoning_tokens: usage.reasoningTokens,
    ...(dollars !== null && { total_cost: dollars }),
  };
}

type InspectUsage = ReturnType<typeof usageOf>;

/** Sums by name; a price that is unknown for one part is unknown for the sum. */
export function addedUsage(parts: Record<string, InspectUsage>[]): Record<string, InspectUsage> {
  const sums: Record<string, InspectUsage> = {};
  for (const [name, usage] of parts.flatMap((part) => Object.entries(part))) {
    const before = sums[name];
    const { total_cost: cost, ...counts } = usage;
    const sum = Object.fromEntries(
      Object.entries(counts).map(([field, count]) => [
        field,
        count + (before?.[field as keyof typeof counts] ?? 0),
      ]),
    ) as typeof counts;
    const known = cost !== undefined && (before === undefined || before.total_cost !== undefined);
    sums[name] = { ...sum, ...(known && { total_cost: cost + (before?.total_cost ?? 0) }) };
  }
  return sums;
}

export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** In Python's spelling, so that Inspect writes the same text again. */
export function utc(time: string): string {
  const [whole, fraction] = new Date(time).toISOString().slice(0, -1).split(".") as [string, string];
  return `${whole}${fraction === "000" ? "" : `.${fraction}000`}+00:00`;
}
