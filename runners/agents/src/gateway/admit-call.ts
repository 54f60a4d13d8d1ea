// Checks a program's model call before it goes to its provider, and makes the one change: usage in streams. Pure.
import { isTable } from "@mlrb/formats/is-table";
import type { Json } from "@mlrb/kit/stage";
import { type CallBound, callBound } from "../model/call-charge.ts";
import { parsedJson } from "../model/json-text.ts";
import { mayUse } from "./gateway-provider.ts";
import type { Refusal } from "./provider-error.ts";
import { reachesOut } from "./reaches-out.ts";
import type { Route } from "./route-request.ts";

export type AdmittedCall = {
  model: string;
  stream: boolean;
  /** The text that goes to the provider, and its value. */
  body: string;
  request: Record<string, Json>;
  /** The most that the call can cost. */
  bound: CallBound;
  /** Number of items of the conversation, for the record. */
  messages: number;
  /** The program did not request the usage in its stream, so that event is kept from it. */
  hideUsage: boolean;
};

/** `network`: whether the attempt may reach a network in other ways. */
export function admitCall(
  route: Route,
  text: string,
  { network }: { network: boolean },
): AdmittedCall | { refused: Refusal } {
  const refuse = (status: number, detail: string) => ({ refused: { status, detail } });
  const body = parsedJson(text);
  if (body === undefined) return refuse(400, "the body is not JSON");
  if (!isTable(body)) return refuse(400, "the body is not a JSON object");
  const model = route.model ?? body.model;
  if (typeof model !== "string") return refuse(400, "the body names no model");
  if (!mayUse(route.provider, model))
    return refuse(
      403,
      `the model ${JSON.stringify(model.slice(0, 100))} is not among those of this attempt: ${route.provider.ids.join(", ")}`,
    );
  const reaching = network ? undefined : reachesOut(route.format, body);
  if (reaching) return refuse(403, `${reaching} would reach a network, and this attempt has none`);
  const stream = route.stream ?? body.stream === true;
  const messages = body.messages ?? body.input ?? body.contents;
  const options = isTable(body.stream_options) ? body.stream_options : undefined;
  const hideUsage = route.format === "openai-chat" && stream && options?.include_usage !== true;
  if (hideUsage) body.stream_options = { ...options, include_usage: true };
  return {
    model,
    stream,
    body: hideUsage ? JSON.stringify(body) : text,
    bound: boundOf(body, Buffer.byteLength(text)),
    request: body,
    messages: Array.isArray(messages) ? messages.length : 1,
    hideUsage,
  };
}

/** Reads the fields of all protocols: a provider uses its own, and the largest value is the bound. */
function boundOf(body: Record<string, Json>, requestBytes: number): CallBound {
  const google = body.generationConfig ?? body.generation_config;
  const config = isTable(google) ? google : {};
  const said = [
    ...[body.max_tokens, body.max_completion_tokens, body.max_output_tokens],
    ...[config.maxOutputTokens, config.max_output_tokens],
  ].filter((value) => typeof value === "number");
  const answers = Math.max(
    1,
    ...[body.n, config.candidateCount].filter((value) => typeof value === "number"),
  );
  return callBound({
    requestBytes,
    outputTokensMax: said.length > 0 ? Math.max(...said) : undefined,
    answers,
  });
}
