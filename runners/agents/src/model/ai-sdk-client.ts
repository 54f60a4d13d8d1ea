// A model client over the AI SDK. It makes one try of one step as a stream, so a broken or silent answer is
// noticed. Tools are described and never run here. Callers add retries, prices and records.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import {
  jsonSchema,
  type LanguageModelMiddleware,
  streamText,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from "ai";
import { isServersEnd } from "./answer-end.ts";
import { AnswerParts } from "./answer-parts.ts";
import { causeOf, failureOf } from "./cause-of.ts";
import { guardedFetch, TransportTrouble } from "./guarded-fetch.ts";
import type { ModelClient, ModelFailure, ModelRequest, ModelResult, ToolSpec } from "./model-client.ts";
import { sdkMessages } from "./sdk-messages.ts";
import { sdkModel } from "./sdk-model.ts";

export type ClientLimits = {
  /** Without a part of an answer, before a connection is given up. Node's own fetch does so after 300 s without a byte. */
  idleMs?: number;
  /** Of text, reasoning and arguments together; the rest is dropped. */
  answerCharactersMax?: number;
  bodyBytesMax?: number;
};

const limits: Required<ClientLimits> = {
  // models think for ten minutes and more, and some providers only keep the connection open meanwhile; under a
  // hundredth of 24 hours, which the decision at a deadline leaves to the agent
  idleMs: 840_000,
  // four times the largest answers of current models (128 000 tokens)
  answerCharactersMax: 2_000_000,
  // 400 bytes for each of 256 000 tokens fit: what is longer was not written by a model
  bodyBytesMax: 128 * 2 ** 20,
};

/** A function is called at each try: a person may have replaced the key. */
export type ProviderKey = string | undefined | (() => string | undefined);

/** Throws if the spec names no usable model. */
export function aiSdkClient(spec: ModelSpec, given: ProviderKey, some: ClientLimits = {}): ModelClient {
  const held = { ...limits, ...some };
  const keyNow = () => (typeof given === "function" ? given() : given);
  sdkModel(spec, keyNow(), fetch);
  return {
    provider: spec.provider,
    model: spec.id,
    async call(request) {
      request.signal.throwIfAborted();
      const result = await oneTry(spec, { key: keyNow(), held, request });
      // an answer that arrived during the abort is dropped
      request.signal.throwIfAborted();
      return result;
    },
  };
}

type Try = { key: string | undefined; held: Required<ClientLimits>; request: ModelRequest };

async function oneTry(spec: ModelSpec, { key, held, request }: Try): Promise<ModelResult> {
  const transport = guardedFetch({
    ...held,
    stream: spec.provider === "bedrock" ? "frames" : "events", // of text, or AWS's binary ones
    ...(request.heard && { heard: request.heard }),
    take: (event, text) => answer.takeEvent(event, text),
  });
  const { model, providerOptions, marksEnd } = sdkModel(spec, key, transport.fetch);
  const answer = new AnswerParts(marksEnd);
  let error: unknown;
  try {
    const { fullStream } = streamText({
      model: wrapLanguageModel({ model, middleware: inputsAsWritten((text) => answer.takeInput(text)) }),
      messages: sdkMessages(request.messages, spec.provider),
      allowSystemInMessages: true,
      tools: sdkTools(request.tools),
      providerOptions,
      includeRawChunks: true, // they alone hold the fingerprint
      maxRetries: 0,
      abortSignal: request.signal,
      ...(spec.temperature !== undefined && { temperature: spec.temperature }),
      ...(spec.maxOutputTokens !== undefined && { maxOutputTokens: spec.maxOutputTokens }),
      onError() {}, // the default prints it
    });
    for await (const part of fullStream) {
      if (part.type === "error") error ??= part.error;
      // read to its end all the same, for its usage, and since an endless answer is its provider's
      if (answer.characters <= held.answerCharactersMax || part.type === "raw" || part.type === "finish-step")
        answer.take(part);
    }
  } catch (thrown) {
    error ??= thrown;
  }
  request.signal.throwIfAborted();
  const result = judged(answer, spec.provider, transport.trouble() ?? error);
  const isClipped = result.kind === "answered" && answer.characters > held.answerCharactersMax;
  return isClipped ? { kind: "answered", response: answer.response(spec.provider, "length") } : result;
}

/**
 * Takes the arguments of calls before the SDK parses them: it would replace malformed ones by its own error, and
 * run out of stack over deeply nested JSON.
 */
function inputsAsWritten(take: (text: string) => void): LanguageModelMiddleware {
  return {
    specificationVersion: "v4",
    async wrapStream({ doStream }) {
      const { stream, ...rest } = await doStream();
      type Part = typeof stream extends ReadableStream<infer One> ? One : never;
      const taken = new TransformStream<Part, Part>({
        transform(part, controller) {
          if (part.type !== "tool-call") return controller.enqueue(part);
          take(part.input);
          controller.enqueue({ ...part, input: "{}" });
        },
      });
      return { stream: stream.pipeThrough(taken), ...rest };
    },
  };
}

/** The result of a stream that has ended. */
function judged(answer: AnswerParts, provider: string, error: unknown): ModelResult {
  const { finish, endName, characters, usageSoFar: usage } = answer;
  const failed = (failure: ModelFailure) => ({ kind: "failed" as const, failure: { ...failure, usage } });
  if (error !== undefined) {
    const failure = causeOf(error);
    // an answer that had begun is cut, whatever the SDK calls the error
    const isCut =
      characters > 0 &&
      ["connection-lost", "garbage", "unforeseen"].includes(failure.cause) &&
      !(error instanceof TransportTrouble);
    return failed(isCut ? failureOf("cut-stream", { detail: failure.detail }) : failure);
  }
  const isOther = finish === "other" || finish === "error";
  if (finish === undefined || finish === "interrupted" || (isOther && isServersEnd(endName || finish))) {
    if (characters === 0 && endName === "")
      return failed(failureOf("garbage", { detail: "an answer without an event of the protocol" }));
    const detail = `the answer broke off before its end${endName && `: ${endName}`}`;
    return failed(failureOf("cut-stream", { detail }));
  }
  const end = finish === "content-filter" ? "refusal" : isOther ? "other" : finish;
  return { kind: "answered", response: answer.response(provider, end) };
}

function sdkTools(tools: ToolSpec[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, input }) => [
      name,
      tool({ description, inputSchema: jsonSchema(input) }),
    ]),
  );
}
