// Makes the AI SDK's model of a preset: OpenAI, Anthropic, Google, Azure and Bedrock by their own protocols, any
// other provider by chat completions at its `baseUrl`.

import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createAzure } from "@ai-sdk/azure";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { Json } from "@mlrb/kit/stage";
import type { wrapLanguageModel } from "ai";
import { at, textAt } from "./json-text.ts";
import { calledAddress } from "./model-route.ts";

// The SDK prints warnings to stderr, which is the attempt's log; what matters of them shows in answers.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

export type SdkModel = {
  model: Parameters<typeof wrapLanguageModel>[0]["model"];
  providerOptions: Record<string, Record<string, Json>>;
  /**
   * Whether a piece of an answer marks its end. Absent where the SDK reports an answer without such a mark as
   * interrupted; the packages for Azure and Bedrock are older, and report its finish as "other".
   */
  marksEnd?: (piece: Json) => boolean;
};

/** Addresses that name a resource or a region of the account's own: there is no default. */
const addressOf: Record<string, string> = {
  azure: "https://RESOURCE.openai.azure.com/openai/v1",
  bedrock: "https://bedrock-runtime.REGION.amazonaws.com",
};

/** Throws for an unknown provider without an address. */
export function sdkModel(spec: ModelSpec, key: string | undefined, transport: typeof fetch): SdkModel {
  const { provider, id, options = {} } = spec;
  const baseURL = spec.baseUrl === undefined ? undefined : calledAddress(spec.baseUrl);
  const example = addressOf[provider];
  if (example !== undefined && baseURL === undefined)
    throw new Error(`provider "${provider}" needs \`baseUrl\` in the preset's model: ${example}`);
  // without a key the SDK would take one from the environment or fail; an endpoint without keys ignores this one
  const place = { apiKey: key ?? "none", fetch: transport, ...(baseURL !== undefined && { baseURL }) };
  const made = (model: SdkModel["model"], own: Record<string, Json> = {}) => ({
    ...{ model, providerOptions: { [provider]: { ...own, ...options } } },
  });
  switch (provider) {
    case "google":
      return made(createGoogle(place)(id));
    case "azure":
      return {
        ...made(createAzure(place)(id), { store: false }),
        marksEnd: (piece) => /^response\.(completed|incomplete|failed)$/u.test(textAt(piece, "type")),
      };
    case "bedrock":
      return {
        // the key is a Bedrock API key; the region is in the address, and this one keeps the SDK from the
        // environment
        ...made(createAmazonBedrock({ ...place, region: "us-east-1" })(id)),
        marksEnd: (piece) => at(piece, "messageStop") !== undefined,
      };
    case "openai":
      // the provider stores nothing: an attempt's record must be complete, so reasoning comes sealed
      return made(createOpenAI(place)(id), { store: false });
    case "anthropic":
      // fine-grained streaming does not check arguments, and older models do not have it
      return made(createAnthropic(place)(id), { toolStreaming: false });
    default: {
      if (baseURL === undefined)
        throw new Error(
          `provider "${provider}" needs \`baseUrl\` in the preset's model, e.g. http://127.0.0.1:8000/v1; only openai, anthropic and google have one of their own`,
        );
      const { apiKey: _, ...keyless } = place;
      const settings = {
        ...(key === undefined ? keyless : place),
        name: provider,
        baseURL,
        includeUsage: true,
      };
      return made(createOpenAICompatible(settings)(id));
    }
  }
}
