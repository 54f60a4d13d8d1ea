// Sends one admitted call to its provider once. A complaint at the beginning of an answer of status 200 counts as
// a refusal, so the call can be held until a person has fixed its cause.
import type { IncomingMessage } from "node:http";
import { causeOf, failureOf } from "../model/cause-of.ts";
import type { ModelFailure } from "../model/model-client.ts";
import type { AdmittedCall } from "./admit-call.ts";
import { callProvider, shownHeaders } from "./call-provider.ts";
import { errorText } from "./pass-answer.ts";
import { ProviderAnswer } from "./provider-answer.ts";
import type { Route } from "./route-request.ts";

export type FailedTry = {
  failure: ModelFailure;
  /** The program gets this text instead of the provider's. */
  refusal?: string;
  /** The provider's answer. */
  reply?: { status: number; headers: Record<string, string>; body: string };
};

export type TryRequest = {
  route: Route;
  call: AdmittedCall;
  /** Ends everything with the gateway. */
  signal: AbortSignal;
  /** Called with each part of an answer. */
  heard(): void;
};

/** Never rejects. */
export async function tryCall(request: TryRequest): Promise<{ answer: ProviderAnswer } | FailedTry> {
  const { route, call, signal, heard } = request;
  const { provider } = route;
  let answer: IncomingMessage;
  try {
    answer = await callProvider(
      provider,
      { path: route.path, body: call.body, headers: call.headers },
      signal,
    );
  } catch (error) {
    if (signal.aborted) return { failure: unanswered, refusal: "the attempt is over" };
    return { failure: causeOf(error, "program"), refusal: "the provider cannot be reached" };
  }
  answer.on("error", () => {}); // the reader of the answer gets it too
  const status = answer.statusCode ?? 502;
  if (status < 300) {
    const { format } = route;
    const events = call.stream && (format !== "google" || route.path.endsWith("alt=sse"));
    const begun = new ProviderAnswer(answer, { format, events, heard });
    const complained = await begun.complaint();
    const failure = complained && causeOf(complained.complaint, "program");
    if (!failure || (failure.whose !== "operator" && failure.cause !== "overloaded"))
      return { answer: begun };
    answer.destroy();
    failure.usage = complained.usage;
    if (provider.key) failure.detail = failure.detail.replaceAll(provider.key, "[key]");
    return { failure, refusal: notTaken };
  }
  const body = await errorText(answer, provider.key).catch(() => "");
  const responseHeaders = answer.headers;
  const failure = causeOf({ statusCode: status, responseHeaders, responseBody: body }, "program");
  // a program must not read what a provider says about a key, even in part, nor where a redirect leads
  if (failure.whose === "operator" || status < 400) return { failure, refusal: notTaken };
  return { failure, reply: { status, headers: shownHeaders(answer.headers), body } };
}

const notTaken = "the provider would not take the call";

/** The attempt ended first. */
const unanswered = failureOf("idle", { detail: "the attempt ended before the provider had answered" });
