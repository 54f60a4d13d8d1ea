// One metered call of a program: sends it, passes the answer back, charges it and records it, however it ends.
import type { ServerResponse } from "node:http";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { HeldCall, Meter, OverBudget } from "../attempt/meter.ts";
import { causeOf, failureOf } from "../model/cause-of.ts";
import { parsedJson } from "../model/json-text.ts";
import type { ModelFailure } from "../model/model-client.ts";
import type { ProviderSilence } from "../model/provider-silence.ts";
import type { Tries } from "../model/provider-trouble.ts";
import { settleAnswer, settleFailure } from "../model/settle-call.ts";
import { boundUsage, type CallBound, type Pricing } from "../spending/call-charge.ts";
import type { AdmittedCall } from "./admit-call.ts";
import { addSurcharge, type HeardAnswer, tierSurcharge } from "./answer/heard-answer.ts";
import { shownHeaders } from "./call-provider.ts";
import type { CallWaits } from "./call-waits.ts";
import { callKey, type KeptAnswer, type keptAnswers } from "./kept-answers.ts";
import { NoAnswer, passAnswer } from "./pass-answer.ts";
import type { ProviderAnswer } from "./provider-answer.ts";
import { refuse, refuseOver } from "./provider-error.ts";
import { lessWait, type rateLimitWait } from "./rate-limit-wait.ts";
import type { RequestRecorder } from "./request-recorder.ts";
import type { Route } from "./route-request.ts";
import { type GatewayPrices, servedPrice } from "./served-price.ts";
import { type FailedTry, tryCall } from "./try-call.ts";

/** What the attempt gives to all of its calls. */
export type CallBooks = {
  meter: Pick<Meter, "hold" | "charge" | "over" | "overCap" | "waiting" | "leftMs">;
  prices: GatewayPrices;
  write(event: TrajectoryEvent): void;
  /** Whether the attempt may reach a network in other ways. */
  network: boolean;
  /** A call was refused since this part of the budget is used up. */
  overBudget(over: OverBudget): void;
  /** Called at the end of each call. */
  ended(how: CallOutcome): void;
  silence: ProviderSilence;
};

export type CallDesk = CallBooks & {
  recorder: RequestRecorder;
  wait: ReturnType<typeof rateLimitWait>;
  /** Numbers the calls of the attempt. */
  next(): number;
  /** How many calls are open now, including this one. */
  open(): number;
  /** Without it the program gets every failure at once. */
  waits?: CallWaits;
  kept: ReturnType<typeof keptAnswers>;
  /** Ends everything with the gateway. */
  signal: AbortSignal;
};

export type CallOutcome =
  | "answered"
  | {
      model: { provider: string; id: string };
      failure: ModelFailure;
      /** Patience with the failure ended. */
      lost?: Tries;
      /** The program went away while its call was held. */
      gone?: true;
    };

export type CallRequest = { route: Route; call: AdmittedCall; booked: BookedCall };

/** `bound`: the most that a call can cost. */
export type BookedCall = { bound: CallBound; held: HeldCall };

export class GatewayCall {
  readonly #desk: CallDesk;
  readonly #asked: CallRequest;
  readonly #response: ServerResponse;
  readonly #begin = performance.now();
  readonly #key: string;
  readonly #model: { provider: string; id: string };
  #number = 0;
  #tries = 0;
  #watched: ReturnType<ProviderSilence["began"]> | undefined;

  constructor(desk: CallDesk, asked: CallRequest, response: ServerResponse) {
    this.#desk = desk;
    this.#asked = asked;
    this.#response = response;
    this.#key = callKey(asked.route.path, asked.call.body);
    this.#model = { provider: asked.route.provider.name, id: asked.call.model };
  }

  /** Writes the whole of the response. Rejects only if the record or the ledger cannot be written. */
  async run(): Promise<void> {
    const { route, call, booked } = this.#asked;
    const kept = await this.#desk.kept.take(this.#key);
    if (kept) {
      booked.held.release();
      this.#response.writeHead(kept.status, kept.headers).end(kept.body);
      return;
    }
    this.#number = this.#desk.next();
    const { model, request: body, dropped, reaches } = call;
    const { format, provider } = route;
    const asked = { call: this.#number, provider: provider.name, model, format, body, dropped, reaches };
    this.#desk.recorder.record(asked);
    const first = await this.#try(this.#capped());
    if ("answer" in first) return await this.#pass(first.answer, { keep: false });
    const { waits, signal } = this.#desk;
    if (!waits || signal.aborted) return await this.#giveUp(first, undefined);
    const gone = new AbortController();
    this.#response.once("close", () => gone.abort());
    const held = await waits.held({
      ...{ id: `call ${this.#number}`, model, first, gone: gone.signal },
      failed: (failure, waitMs) => this.#chargeTry(failure, waitMs),
      again: () => this.#again(),
    });
    if (held === "over") {
      booked.held.release();
      if (!refuseOver(this.#desk, route, this.#response))
        refuse(this.#response, route, 503, "the attempt's budget was extended meanwhile: ask again");
    } else if ("gone" in held) {
      booked.held.release();
      refuse(this.#response, route, 502, "the attempt is over");
      // the program may send it again; if it ends instead, this failure is the reason
      this.#desk.ended({ model: this.#model, failure: held.gone, gone: true });
    } else if ("failed" in held) await this.#giveUp(held.failed, held.lost);
    else await this.#pass(held.answer, { keep: true });
  }

  /** Checked before every try: other calls may have spent the rest while this one was held. */
  #capped(): FailedTry | undefined {
    const { bound } = this.#asked.booked;
    const refusal = this.#desk.meter.overCap(this.#pricing().priced(boundUsage(bound)));
    return refusal !== undefined
      ? { failure: failureOf("over-cap", { detail: refusal }), refusal }
      : undefined;
  }

  async #again(): Promise<{ answer: ProviderAnswer } | FailedTry | "over" | "busy"> {
    if (this.#desk.meter.over()) return "over";
    const capped = this.#capped();
    return capped || this.#asked.booked.held.again() ? await this.#try(capped) : "busy";
  }

  async #try(capped: FailedTry | undefined): Promise<{ answer: ProviderAnswer } | FailedTry> {
    if (capped) return capped;
    const { silence, signal } = this.#desk;
    const { route, call } = this.#asked;
    const watched = silence.began(this.#model);
    this.#watched = watched;
    const got = await tryCall({ route, call, signal, heard: () => watched.heard() });
    if ("failure" in got) watched.ended(got.failure);
    return got;
  }

  #pricing(served?: Pick<HeardAnswer, "answeredBy" | "surcharge">): Pricing {
    const { route, call } = this.#asked;
    return servedPrice({ provider: route.provider, model: call.model }, this.#desk.prices, served);
  }

  /** `waitMs` is null for the last try. `heard`: the part of an answer that came. */
  #chargeTry(failure: ModelFailure, waitMs: number | null, heard?: HeardAnswer): void {
    const tried = { ...this.#asked.booked, pricing: this.#pricing(heard) };
    const facts = { by: "program", call: this.#number, try: ++this.#tries };
    settleFailure(this.#desk, tried, facts, failure, heard?.reach)(waitMs);
  }

  #failed(failure: ModelFailure, { lost, heard }: { lost?: Tries; heard?: HeardAnswer } = {}): void {
    this.#chargeTry(failure, null, heard);
    this.#asked.booked.held.release();
    this.#watched?.ended(failure);
    this.#desk.ended({ model: this.#model, failure, ...(lost && { lost }) });
  }

  /** The program gets the failure. A rate limit is held back as long as the provider asks. */
  async #giveUp({ failure, refusal, reply }: FailedTry, lost: Tries | undefined): Promise<void> {
    const { signal, wait, open } = this.#desk;
    if (refusal !== undefined || lost || !reply) {
      refuse(this.#response, this.#asked.route, 502, refusal ?? "the provider cannot be had");
      return this.#failed(failure, lost && { lost });
    }
    this.#failed(failure);
    const pass = (waitedMs: number) => {
      const { headers, body } = lessWait(reply.headers, reply.body, waitedMs);
      this.#response.writeHead(reply.status, headers).end(body);
    };
    if (failure.cause !== "rate-limit" || signal.aborted) return pass(0);
    await wait.hold({ retryAfterMs: failure.retryAfterMs, others: open() - 1 }, pass);
  }

  /** `keep`: the call was held, so its answer is kept for a program that has given up and sends the call again. */
  async #pass(answer: ProviderAnswer, { keep }: { keep: boolean }): Promise<void> {
    const { route, call } = this.#asked;
    const { promise, resolve: kept } = Promise.withResolvers<KeptAnswer | undefined>();
    const bytes: Buffer[] = [];
    if (keep) this.#desk.kept.keep(this.#key, { response: this.#response, answer: promise });
    let broken: string | undefined;
    try {
      const passing = passAnswer(answer, this.#response, {
        ...{ hideUsage: call.hideUsage, key: route.provider.key },
        ...(keep && { keep: (part: Buffer) => void bytes.push(part) }),
      });
      this.#desk.waits?.passing(passing);
      await passing;
    } catch (error) {
      kept(undefined);
      if (error instanceof NoAnswer) {
        refuse(this.#response, route, 502, "the provider's answer is none");
        return this.#failed(causeOfNoAnswer(error));
      }
      broken = (error as Error).message;
    }
    const heard = answer.reader.heard();
    const { statusCode: status = 200, headers } = answer.message;
    addSurcharge(heard, tierSurcharge(String(headers["x-gemini-service-tier"] ?? "")));
    // what a request asked for has the price that its protocol's reader knows
    if (heard.reach !== undefined && call.reaches.length === 0)
      heard.surcharge ??= `reach that the request did not ask for: ${heard.reach}`;
    const failure = failureIn(heard, broken);
    if (failure) {
      kept(undefined);
      this.#failed(failure, { heard });
      this.#response.destroy();
      return;
    }
    this.#answered(heard);
    kept({ status, headers: shownHeaders(headers), body: Buffer.concat(bytes) });
    this.#response.end();
  }

  #answered({ whole: _, complaint: __, ...heard }: HeardAnswer): void {
    const { route, call, booked } = this.#asked;
    settleAnswer(
      this.#desk,
      { ...booked, pricing: this.#pricing(heard) },
      {
        ...heard,
        toolCalls: heard.toolCalls.map((one) => ({ ...one, malformed: parsedJson(one.input) === undefined })),
        ...{ call: this.#number, by: "program", provider: route.provider.name, model: call.model },
        ...{ requestDigest: this.#key, messages: call.messages },
        ...{ durationMs: Math.round(performance.now() - this.#begin), tries: 1 },
      },
    );
    booked.held.release();
    this.#watched?.ended("answered");
    this.#desk.ended("answered");
    this.#desk.waits?.answered(call.model);
  }
}

/** `broken`: how the connection ended early. Undefined if the answer is whole. */
function failureIn(heard: HeardAnswer, broken: string | undefined): ModelFailure | undefined {
  const complained = heard.complaint === null ? undefined : causeOf(heard.complaint, "program");
  const cut = broken ?? (heard.whole ? undefined : "the stream ended before the answer did");
  if (cut === undefined && !complained) return undefined;
  const known = complained && complained.cause !== "unforeseen" ? complained : undefined;
  const detail = cut ?? complained?.detail ?? "";
  return { ...(known ?? failureOf("cut-stream", { detail })), usage: heard.usage };
}

function causeOfNoAnswer({ cause, message, responseBody }: NoAnswer): ModelFailure {
  const complained = causeOf({ responseBody }, "program");
  // a known complaint says more than the form of the body
  if (/"error"/u.test(responseBody) && complained.cause !== "unforeseen") return complained;
  return failureOf(cause, { detail: message, requester: "program" });
}
