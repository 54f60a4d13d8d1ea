// Makes the AI SDK's model of a preset: OpenAI and Anthropic by their own protocols, any other provider by chat
// completions at its `baseUrl`.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { Json } from "@mlrb/kit/stage";
import type { wrapLanguageModel } from "ai";

// The SDK prints warnings to stderr, which is the attempt's log; what matters of them shows in answers.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

export type SdkModel = {
  model: Parameters<typeof wrapLanguageModel>[0]["model"];
  providerOptions: Record<string, Record<string, Json>>;
  /** Whether the end of the cached part must be marked. */
  cache: boolean;
};

/** Throws for an unknown provider without an address. */
export function sdkModel(spec: ModelSpec, key: string | undefined, transport: typeof fetch): SdkModel {
  const { provider, id, baseUrl, options = {} } = spec;
  // without a key the SDK would take one from the environment or fail; an endpoint without keys ignores this one
  const apiKey = key ?? "none";
  const address = baseUrl === undefined ? {} : { baseURL: baseUrl };
  switch (provider) {
    case "openai":
      return {
        model: createOpenAI({ apiKey, fetch: transport, ...address })(id),
        // the provider stores nothing: an attempt's record must be complete, so reasoning comes sealed
        providerOptions: { openai: { store: false, ...options } },
        cache: false,
      };
    case "anthropic":
      return {
        model: createAnthropic({ apiKey, fetch: transport, ...address })(id),
        // fine-grained streaming does not check arguments, and older models do not have it
        providerOptions: { anthropic: { toolStreaming: false, ...options } },
        cache: true,
      };
    default: {
      if (baseUrl === undefined)
        throw new Error(
          `provider "${provider}" needs \`baseUrl\` in the preset's model, e.g. http://127.0.0.1:8000/v1; only openai and anthropic have one of their own`,
        );
      const made = createOpenAICompatible({
        name: provider,
        baseURL: baseUrl,
        includeUsage: true,
        fetch: transport,
        ...(key !== undefined && { apiKey: key }),
      });
      return { model: made(id), providerOptions: { [provider]: options }, cache: false };
    }
  }
}
