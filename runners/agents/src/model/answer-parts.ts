// An answer as it comes in, piece by piece, in our words. It takes what it is given and no more of it than an answer
// may be; an answer that is longer ends there, as one does that reached its limit of tokens.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import type { FinishReason, LanguageModelUsage, TextStreamPart, ToolSet } from "ai";
import type { ModelResponse, ToolCall } from "./model-client.ts";
import type { RawPart } from "./raw-parts.ts";
import { toolCall } from "./tool-input.ts";
import { wellFormed } from "./well-formed.ts";

type Part = TextStreamPart<ToolSet>;

export type AnswerParts = {
  /** What the next call's arguments are, as the model wrote them. */
  takeInput(text: string): void;
  take(part: Part): void;
  /** Characters so far, of everything. */
  characters(): number;
  /** What the provider had counted until now; null where it had said nothing. */
  usageSoFar(): ModelUsage | null;
  /** Undefined as long as it has not come to its end. */
  finish(): FinishReason | undefined;
  response(provider: string, finish: ModelResponse["finish"]): ModelResponse;
};

type Taken =
  | { type: "text" | "reasoning"; id: string; text: string; options?: Json }
  | { type: "tool-call"; id: string; name: string; text: string; options?: Json };

export function answerParts(): AnswerParts {
  const taken: Taken[] = [];
  const inputs: string[] = [];
  let characters = 0;
  let usage: ModelUsage | null = null;
  let begun: ModelUsage | null = null;
  let finish: FinishReason | undefined;
  let answeredBy: string | null = null;

  const open = (type: "text" | "reasoning", id: string) =>
    taken.findLast(
      (part): part is Extract<Taken, { type: typeof type }> => part.type === type && part.id === id,
    );
  const hang = (part: Taken | undefined, options: unknown) => {
    if (part && options !== undefined)
      part.options = { ...(part.options as object), ...(options as object) } as Json;
  };

  const take = (part: Part): void => {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const begun: Taken = {
          type: part.type === "text-start" ? "text" : "reasoning",
          id: part.id,
          text: "",
        };
        taken.push(begun);
        hang(begun, part.providerMetadata);
        return;
      }
      case "text-delta":
      case "reasoning-delta": {
        const found = open(part.type === "text-delta" ? "text" : "reasoning", part.id);
        if (found) found.text += part.text;
        characters += part.text.length;
        hang(found, part.providerMetadata);
        return;
      }
      case "text-end":
      case "reasoning-end":
        hang(open(part.type === "text-end" ? "text" : "reasoning", part.id), part.providerMetadata);
        return;
      case "tool-input-delta":
        characters += part.delta.length;
        return;
      case "tool-call": {
        const text = inputs.shift() ?? "";
        const call: Taken = { type: "tool-call", id: part.toolCallId, name: part.toolName, text };
        taken.push(call);
        hang(call, part.providerMetadata);
        return;
      }
      case "custom":
        begun = usageAtTheStart(part.providerMetadata?.anthropic?.usage) ?? begun;
        return;
      case "finish-step":
        usage = countedUsage(part.usage);
        finish = part.finishReason;
        answeredBy = part.response.modelId ?? null;
        return;
      default:
        return;
    }
  };

  return {
    takeInput: (text) => inputs.push(text),
    take,
    characters: () => characters,
    usageSoFar: () => usage ?? begun,
    finish: () => finish,
    response(provider, ended) {
      const calls = numbered(taken.filter((part) => part.type === "tool-call"));
      const textOf = (type: "text" | "reasoning") =>
        wellFormed(
          taken
            .filter((part) => part.type === type)
            .map((part) => part.text)
            .join(type === "text" ? "" : "\n"),
        );
      const reasoning = textOf("reasoning");
      const hung = taken.some((part) => part.options !== undefined || part.type === "reasoning");
      return {
        text: textOf("text"),
        reasoning: reasoning === "" ? null : reasoning,
        toolCalls: calls,
        finish: ended,
        usage,
        answeredBy,
        ...(hung && { raw: { provider, parts: rawParts(taken, calls) } as Json }),
      };
    },
  };
}

/** Endpoints give the same id twice, or an empty one; an answer's results are told apart by it. */
function numbered(parts: { id: string; name: string; text: string }[]): ToolCall[] {
  const seen = new Set<string>();
  return parts.map(({ id, name, text }, place) => {
    const own = id !== "" && !seen.has(id) ? id : `${id || "call"}-${place + 1}`;
    seen.add(own);
    return toolCall(own, wellFormed(name), text);
  });
}

function rawParts(taken: Taken[], calls: ToolCall[]): RawPart[] {
  const left = [...calls];
  return taken.map((part): RawPart => {
    const options = part.options !== undefined && { options: part.options };
    if (part.type !== "tool-call") return { type: part.type, text: wellFormed(part.text), ...options };
    const call = left.shift()!;
    const input = "input" in call ? call.input : { malformed: call.malformed };
    return { type: "tool-call", id: call.id, name: call.name, input, ...options };
  });
}

/** Anthropic counts the prompt when it begins to answer: of an answer that breaks off that much is known. */
function usageAtTheStart(said: unknown): ModelUsage | undefined {
  if (typeof said !== "object" || said === null) return undefined;
  const tokens = (name: string) => {
    const value = (said as Record<string, unknown>)[name];
    return typeof value === "number" ? value : 0;
  };
  const [cached, written] = [tokens("cache_read_input_tokens"), tokens("cache_creation_input_tokens")];
  const inputTokens = tokens("input_tokens") + cached + written;
  if (inputTokens === 0) return undefined;
  return {
    inputTokens,
    outputTokens: tokens("output_tokens"),
    cachedInputTokens: cached,
    cacheWrittenTokens: written,
    reasoningTokens: null,
  };
}

function countedUsage({
  inputTokens,
  inputTokenDetails,
  outputTokens,
  outputTokenDetails,
}: LanguageModelUsage) {
  if (inputTokens === undefined || outputTokens === undefined) return null;
  // an answer without a token of input is an endpoint that does not count
  if (inputTokens === 0 && outputTokens === 0) return null;
  const written = inputTokenDetails.cacheWriteTokens;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: inputTokenDetails.cacheReadTokens ?? null,
    reasoningTokens: outputTokenDetails.reasoningTokens ?? null,
    ...(written !== undefined && { cacheWrittenTokens: written }),
  };
}
