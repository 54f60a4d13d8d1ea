// Collects an answer of the AI SDK part by part, and returns it in our own types.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import type { FinishReason, LanguageModelUsage, TextStreamPart, ToolSet } from "ai";
import { endName } from "./answer-end.ts";
import { countAt, nameAt } from "./json-text.ts";
import type { ModelResponse, ToolCall } from "./model-client.ts";
import type { RawPart } from "./raw-parts.ts";
import { cachedTokens, unclearJson, usageInEvent } from "./reported-usage.ts";
import { toolCall, uniqueIds } from "./tool-input.ts";
import { wellFormed } from "./well-formed.ts";

type Part = TextStreamPart<ToolSet>;

type Taken =
  | { type: "text" | "reasoning"; id: string; text: string; options?: Json }
  | { type: "tool-call"; id: string; name: string; text: string; options?: Json };

export class AnswerParts {
  readonly #taken: Taken[] = [];
  readonly #inputs: string[] = [];
  /** So far: text, reasoning and arguments. */
  characters = 0;
  #usage: ModelUsage | null = null;
  #usageSoFar: ModelUsage | null = null;
  /** Whether its usage can be read in two ways. */
  #isUnclear = false;
  #finish: FinishReason | undefined;
  #reason = "";
  /** The end's name behind a router. */
  #native = "";
  /** Why the provider ended the answer, in its words. */
  #message = "";
  readonly #marksEnd: ((piece: Json) => boolean) | undefined;
  #isEnded = false;
  #answeredBy: string | null = null;
  #fingerprint = "";

  /** `marksEnd`: whether a piece marks the end of the answer; without it every finish of the SDK holds. */
  constructor(marksEnd?: (piece: Json) => boolean) {
    this.#marksEnd = marksEnd;
  }

  /** The arguments of the next tool call, as the model wrote them. */
  takeInput(text: string): void {
    this.#inputs.push(text);
  }

  /** An event of the stream, before the SDK reads it. */
  takeEvent(event: Json, text: string): void {
    this.#isUnclear ||= unclearJson(text) !== undefined;
    this.#usageSoFar = usageInEvent(event) ?? this.#usageSoFar;
  }

  take(part: Part): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#add({ type: typeOf(part.type), id: part.id, text: "" }, part.providerMetadata);
        return;
      case "text-delta":
      case "reasoning-delta": {
        const found = this.#open(typeOf(part.type), part.id);
        if (found) found.text += part.text;
        this.characters += part.text.length;
        addOptions(found, part.providerMetadata);
        return;
      }
      case "text-end":
      case "reasoning-end":
        addOptions(this.#open(typeOf(part.type), part.id), part.providerMetadata);
        return;
      case "tool-input-delta":
        this.characters += part.delta.length;
        return;
      case "tool-call": {
        const text = this.#inputs.shift() ?? "";
        const call: Taken = { type: "tool-call", id: part.toolCallId, name: part.toolName, text };
        this.#add(call, part.providerMetadata);
        return;
      }
      case "custom":
        this.#usageSoFar =
          usageAtTheStart(part.providerMetadata?.anthropic?.usage as Json | undefined) ?? this.#usageSoFar;
        return;
      case "raw":
        this.#takeRaw(part.rawValue as Json);
        return;
      case "finish-step":
        this.#usage = countedUsage(part.usage);
        this.#finish = part.finishReason;
        this.#reason = part.rawFinishReason ?? "";
        this.#message = nameAt(part.providerMetadata as Json, "google", "finishMessage");
        return;
      default: // parts of the SDK that hold nothing of the answer
        return;
    }
  }

  /** The SDK gives the requested model where a provider names none, so the name is taken from the provider's own words. */
  #takeRaw(piece: Json): void {
    this.#isEnded ||= this.#marksEnd?.(piece) ?? false;
    const named = [["model"], ["response", "model"], ["message", "model"], ["modelVersion"]];
    this.#answeredBy ??= named.map((path) => nameAt(piece, ...path)).find((name) => name !== "") ?? null;
    this.#native = nameAt(piece, "choices", 0, "native_finish_reason") || this.#native;
    this.#fingerprint = nameAt(piece, "system_fingerprint") || this.#fingerprint;
  }

  /** The provider's counts so far; null without any. */
  get usageSoFar(): ModelUsage | null {
    return this.#isUnclear ? null : (this.#usage ?? this.#usageSoFar);
  }

  /** Undefined before the end of the answer. */
  get finish(): FinishReason | undefined {
    return this.#marksEnd && !this.#isEnded ? undefined : this.#finish;
  }

  /** The provider's name of the end; empty without one. */
  get endName(): string {
    return endName(this.#reason, this.#native);
  }

  response(provider: string, finish: ModelResponse["finish"]): ModelResponse {
    const taken = this.#taken;
    const called = taken.filter((part) => part.type === "tool-call");
    const ids = uniqueIds(called.map(({ id }) => id));
    const toolCalls = called.map(({ name, text }, place) => toolCall(ids[place]!, wellFormed(name), text));
    const reasoning = this.#textOf("reasoning");
    const text = finish === "other" ? this.#withNotice(toolCalls.length) : this.#textOf("text");
    // the provider's parts lack the notice
    const isPlain = text === this.#textOf("text");
    const hasRaw = taken.some((part) => part.options !== undefined || part.type === "reasoning");
    return {
      text,
      reasoning: reasoning === "" ? null : reasoning,
      toolCalls,
      finish,
      usage: this.#isUnclear ? null : this.#usage,
      answeredBy: this.#answeredBy,
      ...(this.#fingerprint !== "" && { fingerprint: this.#fingerprint }),
      ...(isPlain && hasRaw && { raw: { provider, parts: rawParts(taken, toolCalls) } as Json }),
    };
  }

  /** Without the notice a model would not learn that its call is lost. */
  #withNotice(calls: number): string {
    const text = this.#textOf("text");
    const name = this.endName;
    const isSaid = this.#finish === "other" && name === this.#reason && text !== "";
    if (calls > 0 || name === "" || isSaid) return text;
    const words = [name, this.#message].filter((one) => one !== "").join(": ");
    return `${text}\n(The provider ended this answer: ${words})`.trimStart();
  }

  #add(part: Taken, options: unknown): void {
    this.#taken.push(part);
    addOptions(part, options);
  }

  #open(type: "text" | "reasoning", id: string) {
    return this.#taken.findLast(
      (part): part is Extract<Taken, { type: typeof type }> => part.type === type && part.id === id,
    );
  }

  #textOf(type: "text" | "reasoning"): string {
    const texts = this.#taken.filter((part) => part.type === type).map((part) => part.text);
    return wellFormed(texts.join(type === "text" ? "" : "\n"));
  }
}

function typeOf(part: `${"text" | "reasoning"}-${string}`): "text" | "reasoning" {
  return part.startsWith("text-") ? "text" : "reasoning";
}

function addOptions(part: Taken | undefined, options: unknown): void {
  if (part && options !== undefined)
    part.options = { ...(part.options as object), ...(options as object) } as Json;
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

/** Anthropic counts the prompt when it begins to answer, so this is known of an answer that breaks off. */
function usageAtTheStart(reported: Json | undefined): ModelUsage | undefined {
  const tokens = (name: string) => countAt(reported, name) ?? 0;
  const [cached, written] = [tokens("cache_read_input_tokens"), tokens("cache_creation_input_tokens")];
  const inputTokens = tokens("input_tokens") + cached + written;
  if (inputTokens === 0) return undefined;
  return {
    ...{ inputTokens, outputTokens: tokens("output_tokens"), reasoningTokens: null },
    ...{ cachedInputTokens: cached, cacheWrittenTokens: written },
  };
}

function countedUsage({ inputTokens, outputTokens, ...details }: LanguageModelUsage) {
  if (inputTokens === undefined || outputTokens === undefined) return null;
  // an endpoint that reports no tokens at all does not count
  if (inputTokens === 0 && outputTokens === 0) return null;
  const written = details.inputTokenDetails.cacheWriteTokens;
  return {
    inputTokens,
    outputTokens,
    // the SDK's count is 0 where it does not know the name
    cachedInputTokens: cachedTokens(details.raw as Json | undefined),
    reasoningTokens: details.outputTokenDetails.reasoningTokens ?? null,
    ...(written !== undefined && { cacheWrittenTokens: written }),
  };
}
