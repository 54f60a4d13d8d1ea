// Checks that a preset's model answers, with a request of one word: models are retired, keys expire and local
// servers are not started, and that should not show in an attempt of a day. Costs a few tokens.
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { type CallBound, callBound, callCharge, outputTokensMaxOf } from "../spending/call-charge.ts";
import type { PriceBook } from "../spending/prices.ts";
import { aiSdkClient } from "./ai-sdk-client.ts";
import { modelCauses } from "./failure-causes.ts";
import type { ModelFailure, ModelResponse, ToolSpec } from "./model-client.ts";

export type ModelProbe = {
  answer:
    | "works"
    | "retired"
    | "no-key"
    | "refused-key"
    | "no-money"
    | "unreachable"
    | "busy"
    | "unclear"
    | "no-tool-call";
  found: string;
  wayOut: string | null;
};

type ProbeOptions = { timeoutMs?: number };

const request = (text: string, tools: ToolSpec[] = []) => ({
  messages: [{ role: "user" as const, text }],
  tools,
});
const wordRequest = request("Say yes.");

export async function probeModel(
  spec: ModelSpec,
  key: string | undefined,
  options: ProbeOptions = {},
): Promise<ModelProbe> {
  // without options and temperature: some need more output than a word
  const { options: _, temperature: __, ...plain } = spec;
  const maxOutputTokens = spec.provider === "openai" ? 16 : 1; // OpenAI's responses protocol takes no smaller limit
  return probe(
    { ...plain, maxOutputTokens },
    key,
    wordRequest,
    (response) => answered(spec, response),
    options,
  );
}

const reportTool: ToolSpec = {
  name: "report",
  description: "Reports one word to the operator.",
  input: {
    type: "object",
    properties: { word: { type: "string", description: "the word to report" } },
    required: ["word"],
    additionalProperties: false,
  },
};

const toolRequest = request("Call the tool `report` once, with the word ready.", [reportTool]);
const toolOutputTokensMax = 2048;

/** The most that `probeToolCall` can use. The provider's own framing of tools takes a few hundred tokens. */
export function toolCallBound(spec: ModelSpec): CallBound {
  return callBound({
    requestBytes: JSON.stringify(toolRequest).length + 2000,
    outputTokensMax: outputTokensMaxOf(withShortAnswer(spec)),
  });
}

function withShortAnswer(spec: ModelSpec): ModelSpec {
  return {
    ...spec,
    maxOutputTokens: Math.min(spec.maxOutputTokens ?? toolOutputTokensMax, toolOutputTokensMax),
  };
}

/**
 * Asks for one tool call, with the preset's own settings, as a scaffold does; without `tools` for an answer in
 * words, as of a planner. Says what it cost.
 */
export async function probeToolCall(
  spec: ModelSpec,
  key: string | undefined,
  { prices, tools = true, ...options }: ProbeOptions & { prices: PriceBook; tools?: boolean },
): Promise<ModelProbe> {
  const judge = (response: ModelResponse): ModelProbe => {
    const { found } = answered(spec, response);
    const words = `${found}; ${costWords(spec, response, prices)}`;
    if (!tools) return { answer: "works", found: words, wayOut: null };
    if (response.toolCalls.some((call) => call.name === reportTool.name && "input" in call))
      return { answer: "works", found: `${words}; it called a tool`, wayOut: null };
    return {
      answer: "no-tool-call",
      found: `${words}; it was asked to call a tool and did not (finish: ${response.finish})`,
      wayOut: "scaffolds need models that call tools: name another model, or repeat if the answer was cut",
    };
  };
  return probe(withShortAnswer(spec), key, tools ? toolRequest : wordRequest, judge, options);
}

function costWords(spec: ModelSpec, { usage, answeredBy }: ModelResponse, prices: PriceBook) {
  const { provider, id, free } = spec;
  const priced = (used: ModelUsage) => (free ? 0 : prices.dollarsOf(used, provider, answeredBy ?? id));
  const charge = callCharge({ usage, answered: true, tokens: "maybe" }, toolCallBound(spec), priced);
  const dollars = charge.dollars ?? charge.estimated?.dollars ?? null;
  const tokens = charge.usage
    ? `${charge.usage.inputTokens} + ${charge.usage.outputTokens} tokens`
    : "tokens not reported";
  if (dollars === null) return `${tokens} at an unknown price`;
  return `${tokens}, ${charge.dollars === null ? "at most " : ""}${dollars.toFixed(4)} dollars`;
}

function answered({ provider, id }: ModelSpec, { answeredBy }: ModelResponse): ModelProbe {
  const named = answeredBy !== null && answeredBy !== id ? `, as ${answeredBy}` : "";
  return { answer: "works", found: `${provider} answers${named}`, wayOut: null };
}

async function probe(
  spec: ModelSpec,
  key: string | undefined,
  asked: ReturnType<typeof request>,
  judge: (response: ModelResponse) => ModelProbe,
  { timeoutMs = 30_000 }: ProbeOptions,
): Promise<ModelProbe> {
  if (spec.key !== undefined && (key ?? "") === "")
    return {
      answer: "no-key",
      found: `${spec.key} is not set`,
      wayOut: `export ${spec.key}=… before the run; it is never logged or keyed`,
    };
  const over = AbortSignal.timeout(timeoutMs);
  try {
    const result = await aiSdkClient(spec, key, { idleMs: timeoutMs }).call({ ...asked, signal: over });
    return result.kind === "failed" ? ofFailure(spec, result.failure) : judge(result.response);
  } catch (error) {
    if (over.aborted)
      return {
        answer: "unreachable",
        found: `${spec.provider} did not answer within ${timeoutMs / 1000} s`,
        wayOut: modelCauses.unreachable.wayOut,
      };
    return { answer: "unclear", found: (error as Error).message, wayOut: null };
  }
}

const answers: Partial<Record<ModelCause, ModelProbe["answer"]>> = {
  ...{ "wrong-key": "refused-key", forbidden: "refused-key", "out-of-money": "no-money" },
  ...{ "rate-limit": "busy", overloaded: "busy", "server-error": "busy" },
  ...{ unreachable: "unreachable", "no-certificate": "unreachable", "wrong-address": "unreachable" },
  ...{ "connection-lost": "unreachable", idle: "unreachable" },
  ...{ garbage: "unreachable", "no-stream": "unreachable" },
};

function ofFailure({ provider, id }: ModelSpec, { cause, detail }: ModelFailure): ModelProbe {
  if (cause !== "unknown-model")
    return {
      answer: answers[cause] ?? "unclear",
      found: `${provider}: ${detail}`,
      wayOut: modelCauses[cause].wayOut,
    };
  const retired = /deprecat|retired|decommission|shut ?down|no longer/iu.test(detail);
  const words = retired ? "it is retired" : "no such model: retired, misspelt, or not available to this key";
  return {
    answer: "retired",
    found: `${provider} ${id}: ${words} (${detail})`,
    wayOut: "name a current model in the preset, by its dated id if it has one",
  };
}
