// What a program's model call must be to go on to its provider, and what of it is changed on the way. Pure.
import type { Json } from "@mlrb/kit/stage";
import { type CallBound, callBound } from "../model/call-charge.ts";
import { mayUse } from "./gateway-provider.ts";
import type { Refusal } from "./provider-error.ts";
import { reachesOut } from "./reaches-out.ts";
import type { Route } from "./route-request.ts";

export type AdmittedCall = {
  model: string;
  stream: boolean;
  /** As it goes to the provider, and what it says. */
  body: string;
  request: Record<string, Json>;
  /** What it can take at most. */
  bound: CallBound;
  /** Items of the conversation, for the record. */
  messages: number;
  /** The program did not ask for the piece of the stream that tells the usage: it is kept from it. */
  hideUsage: boolean;
};

/** `network`: whether the attempt may reach a network anyway. */
export function admitCall(
  route: Route,
  text: string,
  { network }: { network: boolean },
): AdmittedCall | { refused: Refusal } {
  const refuse = (status: number, detail: string) => ({ refused: { status, detail } });
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    return refuse(400, "the body is not JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return refuse(400, "the body is not a JSON object");
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
  const options = body.stream_options as Record<string, Json> | undefined;
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

/** By the names of all protocols: a provider goes by its own, the largest is the bound. */
function boundOf(body: Record<string, Json>, requestBytes: number): CallBound {
  const google = body.generationConfig ?? body.generation_config;
  const config = typeof google === "object" && google !== null && !Array.isArray(google) ? google : {};
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
