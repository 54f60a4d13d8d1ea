// Checks that a preset's model answers, with a request of one word: models are retired, keys expire and local servers
// are not started, and that should not show in an attempt of a day. Costs a few tokens.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { aiSdkClient } from "./ai-sdk-client.ts";
import { causeRow } from "./failure-causes.ts";
import type { ModelFailure } from "./model-client.ts";

export type ModelProbe = {
  answer: "works" | "retired" | "no-key" | "refused-key" | "no-money" | "unreachable" | "busy" | "unclear";
  found: string;
  wayOut: string | null;
};

/** OpenAI's responses protocol takes no smaller limit. */
const leastOutputTokens = (provider: string) => (provider === "openai" ? 16 : 1);

export async function probeModel(
  spec: ModelSpec,
  key: string | undefined,
  { timeoutMs = 30_000 }: { timeoutMs?: number } = {},
): Promise<ModelProbe> {
  const { provider, id, baseUrl, contextTokens } = spec;
  if (spec.key !== undefined && (key ?? "") === "")
    return {
      answer: "no-key",
      found: `${spec.key} is not set`,
      wayOut: `export ${spec.key}=… before the run; it is never logged or keyed`,
    };
  // without options and temperature: some need more output than a word
  const plain: ModelSpec = {
    provider,
    id,
    contextTokens,
    maxOutputTokens: leastOutputTokens(provider),
    ...(baseUrl !== undefined && { baseUrl }),
  };
  const over = AbortSignal.timeout(timeoutMs);
  try {
    const result = await aiSdkClient(plain, key, { idleMs: timeoutMs }).call({
      messages: [{ role: "user", text: "Say yes." }],
      tools: [],
      signal: over,
    });
    if (result.kind === "failed") return ofFailure(spec, result.failure);
    const { answeredBy } = result.response;
    const named = answeredBy !== null && answeredBy !== id ? `, as ${answeredBy}` : "";
    return { answer: "works", found: `${provider} answers${named}`, wayOut: null };
  } catch (error) {
    if (over.aborted)
      return {
        answer: "unreachable",
        found: `${provider} did not answer within ${timeoutMs / 1000} s`,
        wayOut: causeRow("unreachable").wayOut,
      };
    return { answer: "unclear", found: (error as Error).message, wayOut: null };
  }
}

function ofFailure({ provider, id }: ModelSpec, { cause, detail }: ModelFailure): ModelProbe {
  const { wayOut } = causeRow(cause);
  const probed = (answer: ModelProbe["answer"], found = `${provider}: ${detail}`): ModelProbe => ({
    answer,
    found,
    wayOut,
  });
  switch (cause) {
    case "unknown-model": {
      const retired = /deprecat|retired|decommission|shut ?down|no longer/iu.test(detail);
      const words = retired
        ? "it is retired"
        : "no such model: retired, misspelt, or not available to this key";
      return {
        ...probed("retired", `${provider} ${id}: ${words} (${detail})`),
        wayOut: "name a current model in the preset, by its dated id if it has one",
      };
    }
    case "wrong-key":
    case "forbidden":
      return probed("refused-key");
    case "out-of-money":
      return probed("no-money");
    case "rate-limit":
    case "overloaded":
    case "server-error":
      return probed("busy");
    case "unreachable":
    case "no-certificate":
    case "wrong-address":
    case "connection-lost":
    case "idle":
    case "garbage":
    case "no-stream":
      return probed("unreachable");
    default:
      return probed("unclear");
  }
}
