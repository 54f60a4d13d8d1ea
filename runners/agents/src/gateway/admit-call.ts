// Checks a program's model call before it goes to its provider, and rebuilds it: what is sent is what was checked,
// with the standard tier, nothing stored, and usage in streams. Pure.
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "@mlrb/kit/stage";
import { type CallBound, callBound } from "../spending/call-charge.ts";
import { type GatewayProvider, mayUse, needsNetwork } from "./gateway-provider.ts";
import type { Refusal } from "./provider-error.ts";
import { anthropicRequest } from "./request/anthropic-request.ts";
import { chatRequest } from "./request/chat-request.ts";
import { googleCount, googleRequest } from "./request/google-request.ts";
import { rebuild } from "./request/rebuild.ts";
import { isObject, requestJson } from "./request/request-json.ts";
import { responsesRequest } from "./request/responses-request.ts";
import type { ObjectShape } from "./request/shape.ts";
import { withoutStoredReasoning } from "./request/stored-items.ts";
import { versionHeaders } from "./request/version-headers.ts";
import type { CallFormat, Route } from "./route-request.ts";

export type AdmittedCall = {
  model: string;
  stream: boolean;
  /** The text that goes to the provider, and its value. */
  body: string;
  request: Record<string, Json>;
  /** Of the program's headers: the ones that go to the provider. */
  headers: Record<string, string>;
  /** Names of what was left out. */
  dropped: string[];
  /** Fields by which the provider may search or fetch; empty without a network. */
  reaches: string[];
  /** The most that the call can cost. */
  bound: CallBound;
  /** Number of items of the conversation, for the record. */
  messages: number;
  /** The program did not request the usage in its stream, so that event is kept from it. */
  hideUsage: boolean;
};

/** `standard`: what its author gets with every call. */
const protocols: Record<CallFormat, { shape: ObjectShape; author: string; standard: Record<string, Json> }> =
  {
    "openai-chat": {
      ...{ shape: chatRequest, author: "openai", standard: { store: false, service_tier: "default" } },
    },
    "openai-responses": {
      ...{ shape: responsesRequest, author: "openai", standard: { store: false, service_tier: "default" } },
    },
    anthropic: {
      ...{ shape: anthropicRequest, author: "anthropic", standard: { service_tier: "standard_only" } },
    },
    google: { shape: googleRequest, author: "google", standard: { serviceTier: "standard" } },
  };

/** `network`: whether the attempt may reach a network in other ways. */
export function admitCall(
  route: Route,
  { bytes, headers: asked }: { bytes: Uint8Array; headers: IncomingHttpHeaders },
  { network }: { network: boolean },
): AdmittedCall | { refused: Refusal } {
  const { format, kind, provider } = route;
  const refuse = (status: number, detail: string) => ({ refused: { status, detail } });
  const parsed = requestJson(bytes);
  if ("malformed" in parsed) return refuse(400, `the body is malformed: ${parsed.malformed}`);
  if (!isObject(parsed.value)) return refuse(400, "the body is not a JSON object");
  const model = route.model ?? parsed.value.model;
  if (typeof model !== "string") return refuse(400, "the body names no model");
  if (!mayUse(provider, model, { network }))
    return refuse(
      403,
      `the model ${JSON.stringify(model.slice(0, 100))} is not among those of this attempt: ${provider.ids.join(", ")}${needsNetwork(provider, model) ? "; by its name it may search, and this attempt has no network: list its whole id in the preset" : ""}`,
    );
  const shape = format === "google" && kind === "count" ? googleCount : protocols[format].shape;
  const given =
    format === "openai-responses"
      ? withoutStoredReasoning(parsed.value, provider.name)
      : { body: parsed.value, dropped: [] };
  const rebuilt = rebuild(shape, given.body, { network });
  if ("refused" in rebuilt) return rebuilt;
  const request = rebuilt.body;
  const stream = route.stream ?? request.stream === true;
  const options = isObject(request.stream_options) ? request.stream_options : undefined;
  const hideUsage = format === "openai-chat" && stream && options?.include_usage !== true;
  if (hideUsage) request.stream_options = { ...options, include_usage: true };
  if (kind === "call") Object.assign(request, standardTier(format, provider));
  else if (isObject(request.generateContentRequest)) request.generateContentRequest.model = `models/${model}`;
  const messages = request.messages ?? request.input ?? request.contents;
  const body = JSON.stringify(request);
  const { headers, dropped } = versionHeaders(format, asked, { network });
  return {
    ...{ model, stream, body, request, headers, hideUsage },
    dropped: [...given.dropped, ...rebuilt.dropped, ...dropped, ...route.dropped],
    reaches: rebuilt.reaches,
    bound: boundOf(request, Buffer.byteLength(body)),
    messages: Array.isArray(messages) ? messages.length : 1,
  };
}

/**
 * The standard tier, and no storage, in so many words. Other servers that speak a protocol may refuse fields of
 * its author's; they get none, except `store` of the responses protocol, whose default is to store.
 */
function standardTier(format: CallFormat, { name }: GatewayProvider): Record<string, Json> {
  if (format === "openai-responses" && name !== "openai") return { store: false };
  return protocols[format].author === name ? protocols[format].standard : {};
}

/** Reads the fields of all protocols: a provider uses its own, and the largest value is the bound. */
function boundOf(body: Record<string, Json>, requestBytes: number): CallBound {
  const google = body.generationConfig ?? body.generation_config;
  const config = isObject(google) ? google : {};
  const numbers = (values: (Json | undefined)[]) => values.filter((value) => typeof value === "number");
  const said = numbers([
    ...[body.max_tokens, body.max_completion_tokens, body.max_output_tokens],
    ...[config.maxOutputTokens, config.max_output_tokens],
  ]);
  const answers = Math.max(1, ...numbers([body.n, config.candidateCount, config.candidate_count]));
  return callBound({
    requestBytes,
    outputTokensMax: said.length > 0 ? Math.max(...said) : undefined,
    answers,
  });
}
