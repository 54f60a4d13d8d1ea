// What every provider's usage is read for: tokens from a cache, counts before the end of a stream, and a report
// that can be read in two ways.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import { scanJson } from "@mlrb/kit/admission/json-scan";
import type { Json } from "@mlrb/kit/stage";
import { at, countAt } from "./json-text.ts";

/** OpenAI, two; DeepSeek; Moonshot; Anthropic and LiteLLM; Google; Bedrock. */
const cachedNames = [
  ["prompt_tokens_details", "cached_tokens"],
  ["input_tokens_details", "cached_tokens"],
  ["prompt_cache_hit_tokens"],
  ["cached_tokens"],
  ["cache_read_input_tokens"],
  ["cachedContentTokenCount"],
  ["cacheReadInputTokens"],
];

/** Input tokens that came from a cache. null: the usage has no known name of them, or two different counts. */
export function cachedTokens(usage: Json | undefined): number | null {
  const named = cachedNames.filter((path) => (at(usage, ...path) ?? null) !== null);
  const counts = new Set(named.map((path) => countAt(usage, ...path)));
  return counts.size === 1 ? [...counts][0]! : null;
}

/** The usage that an event of a stream in OpenAI's chat or Google's protocol reports; undefined without one. */
export function usageInEvent(event: Json): ModelUsage | undefined {
  const usage = at(event, "usage") ?? at(event, "usageMetadata");
  const count = (...names: string[]) => names.reduce((sum, name) => sum + (countAt(usage, name) ?? 0), 0);
  const inputTokens = count("prompt_tokens", "promptTokenCount", "toolUsePromptTokenCount");
  if (inputTokens === 0) return undefined;
  const outputTokens = count("completion_tokens", "candidatesTokenCount", "thoughtsTokenCount");
  return { inputTokens, outputTokens, cachedInputTokens: cachedTokens(usage), reasoningTokens: null };
}

/** Answers have at most 128 MiB. */
const limits = {
  depth: { max: 1000, unit: "levels of nesting", honest: "answers have under 20" },
  values: { max: 64 << 20, unit: "values", honest: "a long answer has some thousands" },
  text: { max: 64 << 20, unit: "bytes in one text", honest: "a long answer has under 1 MiB" },
};

/** Why JSON may mean two things, e.g. a key twice in one object: the provider may have meant either. */
export function unclearJson(text: string): string | undefined {
  const scan = scanJson(Buffer.from(text), limits);
  return scan.kind === "malformed" ? scan.reason : undefined;
}
