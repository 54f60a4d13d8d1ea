// One metered call of a program's: sent, passed back, charged, and written into the record, however it ends.
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { FailureOwner, ModelUsage, TrajectoryEvent } from "@mlrb/core/trajectory-event";
import type { Meter } from "../meter.ts";
import type { ModelFailure } from "../model/model-client.ts";
import type { AdmittedCall } from "./admit-call.ts";
import { callProvider, shownHeaders } from "./call-provider.ts";
import type { AnswerReader, HeardAnswer } from "./heard-answer.ts";
import { errorText, passAnswer } from "./pass-answer.ts";
import { providerError } from "./provider-error.ts";
import { type RateLimitWait, retryAfterMs } from "./rate-limit-wait.ts";
import { readAnthropic } from "./read-anthropic.ts";
import { readGoogle } from "./read-google.ts";
import { readOpenaiChat } from "./read-openai-chat.ts";
import { readOpenaiResponses } from "./read-openai-responses.ts";
import type { CallFormat, Route } from "./route-request.ts";

export type CallDesk = {
  meter: Pick<Meter, "charge" | "over" | "waiting" | "leftMs">;
  /** By the name of the provider and of the model; null: no price is known. */
  dollarsOf(usage: ModelUsage, provider: string, model: string): number | null;
  write(event: TrajectoryEvent): void;
  wait: RateLimitWait;
  /** Numbers the calls of the attempt. */
  next(): number;
  /** How many calls are being answered now, this one too. */
  open(): number;
  /** Told how each try ended: what became of an attempt may be somebody else's doing. */
  ended(how: "answered" | { model: { provider: string; id: string }; failure: ModelFailure }): void;
  /** Ends everything with the gateway. */
  signal: AbortSignal;
};

const readers: Record<CallFormat, () => AnswerReader> = {
  "openai-chat": readOpenaiChat,
  "openai-responses": readOpenaiResponses,
  anthropic: readAnthropic,
  google: readGoogle,
};

/** Writes the whole of `response`. Rejects only where the record or the ledger cannot be kept. */
export async function gatewayCall(
  desk: CallDesk,
  { route, call, headers }: { route: Route; call: AdmittedCall; headers: IncomingHttpHeaders },
  response: ServerResponse,
): Promise<void> {
  const { provider } = route;
  const begin = performance.now();
  const number = desk.next();
  const priced = (usage: ModelUsage | null) => {
    if (usage === null) return null;
    return provider.free ? 0 : desk.dollarsOf(usage, provider.name, call.model);
  };
  const failed = (cause: string, whose: FailureOwner, detail: string, usage: ModelUsage | null = null) => {
    const dollars = priced(usage);
    desk.meter.charge({ usage, dollars, answered: false });
    desk.write({
      ...{ event: "model-try", by: "program", call: number, try: 1 },
      ...{ cause, whose, detail: detail.slice(0, 2000), usage, dollars, waitMs: null },
    });
    const model = { provider: provider.name, id: call.model };
    desk.ended({ model, failure: { cause, whose, detail, retry: false, retryAfterMs: null, usage } });
  };
  let answer: IncomingMessage;
  try {
    answer = await callProvider(provider, { path: route.path, body: call.body, headers }, desk.signal);
  } catch (error) {
    const detail = desk.signal.aborted ? "the attempt is over" : "the provider cannot be reached";
    refuse(response, route, 502, detail);
    failed("unreachable", "provider", `${detail}: ${(error as Error).message}`);
    return;
  }
  answer.on("error", () => {}); // told by whoever reads it
  const status = answer.statusCode ?? 502;
  if (status >= 300) {
    const said = await errorText(answer, provider.key).catch(() => "");
    const { cause, whose } = causeOf(status, said);
    // what a provider says of a key, even in part, is no program's business; nor is where a redirect leads
    if (whose === "operator" || status < 400)
      refuse(response, route, 502, "the provider would not take the call");
    else response.writeHead(status, shownHeaders(answer.headers)).end(said);
    failed(cause, whose, `${status}: ${said}`);
    if (cause === "rate-limit") desk.wait.passedOn(retryAfterMs(answer.headers), desk.open() - 1);
    return;
  }
  const reader = readers[route.format]();
  response.writeHead(status, shownHeaders(answer.headers));
  let broken: string | undefined;
  try {
    await passAnswer(answer, response, { reader, hideUsage: call.hideUsage, key: provider.key });
  } catch (error) {
    broken = (error as Error).message;
  }
  const heard = reader.heard();
  broken ??= heard.complaint ?? (heard.whole ? undefined : "the stream ended before the answer did");
  const whole = broken === undefined;
  if (!whole) {
    failed("cut-stream", "provider", broken!, heard.usage);
    response.destroy();
    return;
  }
  const dollars = priced(heard.usage);
  desk.meter.charge({ usage: heard.usage, dollars, answered: true });
  desk.write(callEvent({ number, route, call, heard, dollars, durationMs: performance.now() - begin }));
  desk.ended("answered");
  response.end();
}

export function refuse(
  response: ServerResponse,
  { provider }: Pick<Route, "provider">,
  status: number,
  detail: string,
): void {
  if (response.headersSent) return void response.destroy();
  if (!response.req.complete) response.shouldKeepAlive = false; // nobody will read the rest
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(providerError(provider.protocol, { status, detail }));
}

function callEvent(about: {
  number: number;
  route: Route;
  call: AdmittedCall;
  heard: HeardAnswer;
  dollars: number | null;
  durationMs: number;
}): TrajectoryEvent {
  const { number, route, call, heard, dollars, durationMs } = about;
  return {
    event: "model-call",
    call: number,
    by: "program",
    provider: route.provider.name,
    model: call.model,
    answeredBy: heard.answeredBy,
    requestDigest: createHash("sha256").update(`${route.path}\n${call.body}`).digest("hex"),
    messages: call.messages,
    text: heard.text,
    reasoning: heard.reasoning,
    toolCalls: heard.toolCalls.map((one) => ({ ...one, malformed: !isJson(one.input) })),
    finish: heard.finish,
    usage: heard.usage,
    dollars,
    durationMs: Math.round(durationMs),
    tries: 1,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** By the names of failure-causes.ts. */
function causeOf(status: number, said: string): { cause: string; whose: FailureOwner } {
  if (status === 402 || /insufficient_quota|billing_error|credit balance/.test(said))
    return { cause: "out-of-money", whose: "operator" };
  if (status === 429) return { cause: "rate-limit", whose: "provider" };
  if (status === 503 || status === 529) return { cause: "overloaded", whose: "provider" };
  if (status >= 500) return { cause: "server-error", whose: "provider" };
  if (status === 401) return { cause: "wrong-key", whose: "operator" };
  if (status === 403) return { cause: "forbidden", whose: "operator" };
  return { cause: "bad-request", whose: "agent-error" };
}
