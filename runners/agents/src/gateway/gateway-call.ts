// One metered call of a program's: sent, passed back, charged, and written into the record, however it ends.
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { ModelUsage, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { Meter, OverBudget } from "../attempt/meter.ts";
import { boundUsage, type CallBound, callCharge } from "../model/call-charge.ts";
import { causeOf, failureOf } from "../model/cause-of.ts";
import { causeRow } from "../model/failure-causes.ts";
import type { ModelFailure } from "../model/model-client.ts";
import type { ProviderSilence } from "../model/provider-silence.ts";
import type { AdmittedCall } from "./admit-call.ts";
import { answerBegin, type ProviderAnswer } from "./answer-begin.ts";
import { callProvider, shownHeaders } from "./call-provider.ts";
import type { CallWaits } from "./call-waits.ts";
import type { AnswerReader, HeardAnswer } from "./heard-answer.ts";
import { callKey, type KeptAnswer, type keptAnswers } from "./kept-answers.ts";
import { errorText, NoAnswer, passAnswer } from "./pass-answer.ts";
import { providerError } from "./provider-error.ts";
import { lessWait, type RateLimitWait } from "./rate-limit-wait.ts";
import { readAnthropic } from "./read-anthropic.ts";
import { readGoogle } from "./read-google.ts";
import { readOpenaiChat } from "./read-openai-chat.ts";
import { readOpenaiResponses } from "./read-openai-responses.ts";
import type { requestRecorder } from "./request-recorder.ts";
import type { CallFormat, Route } from "./route-request.ts";

export type CallDesk = {
  meter: Pick<Meter, "hold" | "charge" | "over" | "overCap" | "waiting" | "leftMs">;
  /** By the name of the provider and of the model; null: no price is known. */
  dollarsOf(usage: ModelUsage, provider: string, model: string): number | null;
  write(event: TrajectoryEvent): void;
  /** A call was refused since this part of the budget is used up. */
  overBudget(over: OverBudget): void;
  recorder: ReturnType<typeof requestRecorder>;
  wait: RateLimitWait;
  silence: ProviderSilence;
  /** Numbers the calls of the attempt. */
  next(): number;
  /** How many calls are being answered now, this one too. */
  open(): number;
  /**
   * Told how each call ended: what became of an attempt may be somebody else's doing. `lost`: it was waited for as
   * long as it may be; `gone`: its program did not wait so long.
   */
  ended(
    how:
      | "answered"
      | {
          model: { provider: string; id: string };
          failure: ModelFailure;
          lost?: { tries: number; waitedMs: number };
          gone?: true;
        },
  ): void;
  /** Without it every failure is told to the program at once. */
  waits?: CallWaits;
  kept: ReturnType<typeof keptAnswers>;
  /** Ends everything with the gateway. */
  signal: AbortSignal;
};

const readers: Record<CallFormat, () => AnswerReader> = {
  "openai-chat": readOpenaiChat,
  "openai-responses": readOpenaiResponses,
  anthropic: readAnthropic,
  google: readGoogle,
};

export type GatewayCall = {
  route: Route;
  call: AdmittedCall;
  headers: IncomingHttpHeaders;
  booked: BookedCall;
};

/** What a call can take at most; given back as it is charged. */
export type BookedCall = { bound: CallBound; priced(usage: ModelUsage): number | null; release(): void };

/** Writes the whole of `response`. Rejects only where the record or the ledger cannot be kept. */
export async function gatewayCall(
  desk: CallDesk,
  { route, call, headers, booked }: GatewayCall,
  response: ServerResponse,
): Promise<void> {
  const { provider } = route;
  const { bound, priced } = booked;
  const begin = performance.now();
  /** `waitMs`: it is tried again. */
  const recordTry = (failure: ModelFailure, waitMs: number | null) => {
    const { cause, whose, detail } = failure;
    const { tokens } = causeRow(cause);
    const charge = callCharge({ usage: failure.usage, answered: false, tokens }, bound, priced);
    desk.meter.charge(charge);
    const usage = failure.usage === null ? null : charge.usage;
    const { dollars } = charge;
    tries++;
    desk.write({
      ...{ event: "model-try", by: "program", call: number, try: tries },
      ...{ cause, whose, detail, usage, dollars, waitMs },
    });
  };
  const failed = (failure: ModelFailure, lost?: { tries: number; waitedMs: number }) => {
    booked.release();
    recordTry(failure, null);
    watched?.ended(failure);
    desk.ended({ model: { provider: provider.name, id: call.model }, failure, ...(lost && { lost }) });
  };
  const refused = (failure: ModelFailure, detail: string) => {
    refuse(response, route, 502, detail);
    failed(failure);
  };
  const key = callKey(route.path, call.body);
  const before = await desk.kept.take(key);
  if (before) {
    booked.release();
    response.writeHead(before.status, before.headers).end(before.body);
    return;
  }
  const number = desk.next();
  let tries = 0;
  let watched: ReturnType<ProviderSilence["began"]> | undefined;
  const { model, request } = call;
  desk.recorder.record({ call: number, provider: provider.name, model, format: route.format, body: request });
  // before every try: while this call was held, others may have spent what was left
  const tryOnce = async (): Promise<{ answer: ProviderAnswer } | FailedTry> => {
    const capped = desk.meter.overCap(priced(boundUsage(bound)));
    if (capped !== undefined) return { failure: failureOf("over-cap", { detail: capped }), refusal: capped };
    const watch = desk.silence.began({ provider: provider.name, id: model });
    watched = watch;
    const got = await oneTry(desk, { route, call, headers, heard: () => watch.heard() });
    if ("failure" in got) watched.ended(got.failure);
    return got;
  };
  const first = await tryOnce();
  const waited = "failure" in first && desk.waits !== undefined && !desk.signal.aborted;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const held = waited
    ? await desk.waits!.held<ProviderAnswer, FailedTry>({
        ...{ id: `call ${number}`, model, first, failed: recordTry, gone: gone.signal },
        again: async () => (desk.meter.over() ? "over" : await tryOnce()),
      })
    : "failure" in first
      ? { failed: first }
      : first;
  if (held === "over") {
    booked.release();
    return void refuseOver(desk, route, response);
  }
  if ("gone" in held) {
    booked.release();
    refuse(response, route, 502, "the attempt is over");
    // it may send it again; if it ends instead, this is why
    desk.ended({ model: { provider: provider.name, id: call.model }, failure: held.gone, gone: true });
    return;
  }
  if ("failed" in held) {
    const { failure, refusal, reply } = held.failed;
    const lost = "lost" in held ? held.lost : undefined;
    if (refusal !== undefined || lost || !reply) {
      refuse(response, route, 502, refusal ?? "the provider cannot be had");
      return failed(failure, lost);
    }
    failed(failure);
    const pass = (waitedMs: number) => {
      const { headers, body } = lessWait(reply.headers, reply.body, waitedMs);
      response.writeHead(reply.status, headers).end(body);
    };
    if (failure.cause !== "rate-limit" || desk.signal.aborted) return pass(0);
    const asked = { retryAfterMs: failure.retryAfterMs, others: desk.open() - 1 };
    return await desk.wait.hold(asked, pass);
  }
  const { answer } = held;
  const { promise: keep, resolve: kept } = Promise.withResolvers<KeptAnswer | undefined>();
  const bytes: Buffer[] = [];
  if (waited) desk.kept.keep(key, { response, answer: keep });
  const reader = readers[route.format]();
  const events = call.stream && (route.format !== "google" || route.path.endsWith("alt=sse"));
  let broken: string | undefined;
  try {
    const passing = passAnswer(answer, response, {
      ...{ reader, hideUsage: call.hideUsage, key: provider.key, events },
      ...(waited && { keep: (part: Buffer) => void bytes.push(part) }),
    });
    desk.waits?.passing(passing);
    await passing;
  } catch (error) {
    kept(undefined);
    if (error instanceof NoAnswer) return refused(causeOfNoAnswer(error), "the provider's answer is none");
    broken = (error as Error).message;
  }
  const heard = reader.heard();
  const complained = heard.complaint === null ? undefined : causeOf(heard.complaint, "program");
  broken ??= heard.whole ? undefined : "the stream ended before the answer did";
  if (complained ?? broken) {
    const known = complained && complained.cause !== "unforeseen" ? complained : undefined;
    const detail = broken ?? complained?.detail ?? "";
    kept(undefined);
    failed({ ...(known ?? failureOf("cut-stream", { detail })), usage: heard.usage });
    response.destroy();
    return;
  }
  const charge = callCharge({ usage: heard.usage, answered: true, tokens: "maybe" }, bound, priced);
  booked.release();
  desk.meter.charge(charge);
  const { usage, dollars } = charge;
  const durationMs = performance.now() - begin;
  desk.write(callEvent({ number, route, call, heard: { ...heard, usage }, dollars, durationMs }));
  watched?.ended("answered");
  desk.ended("answered");
  desk.waits?.answered(model);
  kept({
    status: answer.statusCode ?? 200,
    headers: shownHeaders(answer.headers),
    body: Buffer.concat(bytes),
  });
  response.end();
}

/** `refusal`: what the program is told in place of the provider's words; `reply`: those. */
type FailedTry = {
  failure: ModelFailure;
  refusal?: string;
  reply?: { status: number; headers: Record<string, string>; body: string };
};

async function oneTry(
  { signal }: CallDesk,
  { route, call, headers, heard }: Pick<GatewayCall, "route" | "call" | "headers"> & { heard(): void },
): Promise<{ answer: ProviderAnswer } | FailedTry> {
  const { provider } = route;
  let answer: IncomingMessage;
  try {
    answer = await callProvider(provider, { path: route.path, body: call.body, headers }, signal);
  } catch (error) {
    if (signal.aborted) return { failure: unanswered, refusal: "the attempt is over" };
    return { failure: causeOf(error, "program"), refusal: "the provider cannot be reached" };
  }
  answer.on("error", () => {}); // told by whoever reads it
  const status = answer.statusCode ?? 502;
  if (status < 300) {
    const { answer: whole, complained } = await answerBegin(answer, {
      reader: readers[route.format](),
      heard,
    });
    const failure = complained && causeOf(complained.complaint, "program");
    if (!failure || (failure.whose !== "operator" && failure.cause !== "overloaded"))
      return { answer: whole };
    answer.destroy();
    failure.usage = complained.usage;
    if (provider.key) failure.detail = failure.detail.replaceAll(provider.key, "[key]");
    return { failure, refusal: "the provider would not take the call" };
  }
  const body = await errorText(answer, provider.key).catch(() => "");
  const responseHeaders = answer.headers;
  const failure = causeOf({ statusCode: status, responseHeaders, responseBody: body }, "program");
  // what a provider says of a key, even in part, is no program's business; nor is where a redirect leads
  if (failure.whose === "operator" || status < 400)
    return { failure, refusal: "the provider would not take the call" };
  return { failure, reply: { status, headers: shownHeaders(answer.headers), body } };
}

/** The attempt ended first. */
const unanswered = failureOf("idle", { detail: "the attempt ended before the provider had answered" });

function causeOfNoAnswer(error: NoAnswer): ModelFailure {
  const { cause, message, responseBody } = error;
  const complained = causeOf({ responseBody }, "program");
  // a complaint that is worded as one tells more than its place
  if (/"error"/u.test(responseBody) && complained.cause !== "unforeseen") return complained;
  return failureOf(cause, { detail: message, requester: "program" });
}

/** Whether the attempt's own budget is used up; the program and the supervisor are told. */
export function refuseOver(
  { meter, overBudget }: Pick<CallDesk, "meter" | "overBudget">,
  route: Route,
  response: ServerResponse,
): boolean {
  const used = meter.over();
  if (used === undefined) return false;
  refuse(response, route, 402, `the attempt's budget is used up: ${used.detail}`);
  overBudget(used);
  return true;
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
