// Asks a model until it answers or refuses: charges, waits, retries and records, each as the table of causes defines.
// Time that a provider makes the attempt wait is not working time.
import { setTimeout as sleep } from "node:timers/promises";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";
import type { HeldCall } from "../attempt/meter.ts";
import type { AskResult, ScaffoldRequest } from "../scaffold/scaffold.ts";
import { boundUsage, callBound } from "../spending/call-charge.ts";
import type { OperatorDesk } from "../waiting/operator-desk.ts";
import { operatorPause, type Patience, patience } from "../waiting/patience.ts";
import type { WaitBoard } from "../waiting/wait-board.ts";
import { whilePaused } from "../waiting/while-paused.ts";
import { failureOf } from "./cause-of.ts";
import { costlyTriesMax, isAgents, modelCauses } from "./failure-causes.ts";
import type { ModelFailure, ModelResult } from "./model-client.ts";
import type { ProviderSilence } from "./provider-silence.ts";
import { ProviderTrouble } from "./provider-trouble.ts";
import { retryPause } from "./retry-pause.ts";
import {
  type BoundCall,
  type Call,
  type CallAccount,
  chargeFailure,
  failedAnswer,
  type SentCall,
  type Trial,
  takeAnswer,
} from "./settle-call.ts";
import { showWaits } from "./show-waits.ts";

export type AskModel = CallAccount & {
  /** Notified of each try. */
  silence?: ProviderSilence;
  /** From the preset. */
  outputTokensMax?: number;
  signal: AbortSignal;
  /** Shared by the models of an attempt, so that its calls have one series of numbers. */
  counts?: CallCounts;
  /** Without a desk a person cannot be awaited: trouble of the operator then ends the attempt. */
  desk?: OperatorDesk;
  board?: WaitBoard;
  options?: AskOptions;
};

export type CallCounts = { calls: number; answered: number };

export type AskOptions = {
  /** How long one call may wait in all: for its provider, and for a person. */
  patience?: Patience;
  /** Throws when the signal is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  random?: () => number;
  /** Monotonic, ms. */
  now?: () => number;
  /** Ms since the epoch, for display. */
  wallNow?: () => number;
};

/**
 * One for all conversations of an attempt. The returned function throws `ProviderTrouble` if the model cannot be had,
 * and the signal's reason once that is aborted.
 */
export function askModel(given: AskModel): ScaffoldRequest["ask"] {
  const counts = given.counts ?? { calls: 0, answered: 0 };
  return async (by, messages, tools) => {
    given.signal.throwIfAborted();
    if (given.desk?.paused()) await whilePaused(callName(counts.calls + 1), { ...given, desk: given.desk });
    // a used-up budget leaves no gap in the numbers
    if (given.meter.over()) return { kind: "over" };
    const call = ++counts.calls;
    try {
      // before the first answer nothing can be lost: a wrong key is reported at once
      const asked = { by, messages, tools, call, awaitsPerson: counts.answered > 0 };
      const got = await new ModelCall(given, asked).run();
      if (got.kind === "answered") counts.answered++;
      return got;
    } finally {
      given.board?.clear(callName(call));
    }
  };
}

/** Between two checks whether other attempts' calls have ended. */
export const busyMs = 250;
const callName = (call: number) => `call ${call}`;

type NextTry = {
  again: boolean;
  why: WaitReason;
  waitMs: number;
  leftMs: number;
  /** Set if a person is awaited. */
  person: OperatorDesk | undefined;
};

/** One call with all of its tries. */
class ModelCall {
  readonly #given: AskModel;
  readonly #call: BoundCall;
  readonly #show: ReturnType<typeof showWaits>;
  /** Ms so far, for the provider and for a person. */
  readonly #waited = { provider: 0, operator: 0 };
  readonly #made = { "some-times": 0, once: 0, operator: 0 };

  constructor(given: AskModel, asked: Call) {
    const bound = callBound({
      requestBytes: Buffer.byteLength(JSON.stringify([asked.messages, asked.tools])),
      outputTokensMax: given.outputTokensMax,
    });
    this.#given = given;
    this.#call = { ...asked, bound };
    this.#show = showWaits(callName(asked.call), given.board, given.options?.wallNow);
  }

  async run(): Promise<AskResult> {
    for (let number = 1; ; number++) {
      const held = await this.#hold();
      const tried = await this.#try({ ...this.#call, held }, number).finally(held.release);
      if (tried.kind !== "again") return tried;
      await this.#wait(tried.failure, tried.next);
      await this.#unpaused();
      if (this.#given.meter.over()) return { kind: "over" };
    }
  }

  /** Conversations of one attempt take turns, so only calls of other attempts can leave no room under the cap. */
  async #hold(): Promise<HeldCall> {
    const { meter, dollarsOf } = this.#given;
    const { bound } = this.#call;
    const most = { tokens: bound.inputTokens + bound.outputTokens, dollars: dollarsOf(boundUsage(bound)) };
    for (;;) {
      const held = meter.hold(most);
      if (held) return held;
      await this.#pause(busyMs);
      await this.#unpaused();
    }
  }

  /** Patience begins again after a pause, which has no limit. */
  async #unpaused(): Promise<void> {
    const { desk } = this.#given;
    if (!desk?.paused()) return;
    await whilePaused(callName(this.#call.call), { ...this.#given, desk });
    this.#waited.provider = 0;
    this.#waited.operator = 0;
  }

  async #try(
    call: SentCall,
    number: number,
  ): Promise<AskResult | { kind: "again"; failure: ModelFailure; next: NextTry }> {
    const { client } = this.#given;
    const begin = this.#now();
    const result = await this.#send(call, number);
    const trial = { number, durationMs: Math.round(this.#now() - begin) };
    if (result.kind === "answered")
      return takeAnswer(this.#given, call, { response: result.response, trial });
    const { failure } = result;
    const record = chargeFailure(this.#given, call, { failure, number });
    const next = this.#nextTry(failure, trial);
    record(next.again ? next.waitMs : null);
    if (failure.cause === "too-long") return { kind: "too-long" };
    if (isAgents(failure.whose)) return failedAnswer(this.#given, call, { failure, trial });
    if (next.again) return { kind: "again", failure, next };
    const waitedMs = this.#waited.provider + this.#waited.operator;
    const model = { provider: client.provider, id: client.model };
    throw new ProviderTrouble(model, failure, { tries: number, waitedMs });
  }

  async #send(call: SentCall, number: number): Promise<ModelResult> {
    try {
      return await oneTry(this.#given, call);
    } catch (error) {
      // the attempt ended during the call, which may be billed all the same
      if (this.#given.signal.aborted) {
        const failure = failureOf("idle", unanswered);
        chargeFailure(this.#given, call, { failure, number })(null);
      }
      throw error;
    }
  }

  #nextTry(failure: ModelFailure, { number, durationMs }: Trial): NextTry {
    const { meter, desk, options: { random = Math.random, patience: most = patience } = {} } = this.#given;
    const { retry, time } = modelCauses[failure.cause];
    if (time !== "work") meter.waited?.(time, durationMs);
    if (retry === "some-times" || retry === "once") this.#made[retry]++;
    const soon = failure.retry && this.#made["some-times"] < costlyTriesMax && this.#made.once < 2;
    const person = !soon && this.#call.awaitsPerson && mendable(failure) ? desk : undefined;
    const side = person ? "operator" : "provider";
    // a person who pauses during a try finds the attempt paused, not given up
    this.#waited[side] = desk?.paused() ? 0 : this.#waited[side] + durationMs;
    const leftMs = Math.max(0, most[`${side}Ms`] - this.#waited[side]);
    if (person) {
      const pauseMs = operatorPause(++this.#made.operator, failure.retryAfterMs, random);
      return { again: leftMs > 0, why: "operator", waitMs: Math.min(leftMs, pauseMs), leftMs, person };
    }
    const waitMs = retryPause(number, failure.retryAfterMs, random);
    const why = time === "work" ? "provider" : time;
    return { again: soon && waitMs <= leftMs, why, waitMs, leftMs, person };
  }

  async #wait(failure: ModelFailure, { why, waitMs, leftMs, person }: NextTry): Promise<void> {
    const { meter, signal } = this.#given;
    this.#show({ why, failure, waitMs, leftMs });
    const begin = this.#now();
    try {
      await meter.waiting(why, () => (person ? person.pause(waitMs, signal) : this.#pause(waitMs)));
    } finally {
      signal.throwIfAborted();
    }
    this.#waited[person ? "operator" : "provider"] += person ? this.#now() - begin : waitMs;
  }

  #pause(ms: number): Promise<void> {
    const { signal, options } = this.#given;
    return options?.sleep ? options.sleep(ms, signal) : sleep(ms, undefined, { signal });
  }

  #now(): number {
    return this.#given.options?.now?.() ?? performance.now();
  }
}

const unanswered = { detail: "the attempt ended before the provider had answered" };

/** Sends nothing if the run as a whole may spend no more. */
async function oneTry(
  { client, meter, dollarsOf, signal, silence }: AskModel,
  { messages, tools, bound }: BoundCall,
): Promise<ModelResult> {
  const capped = meter.overCap(dollarsOf(boundUsage(bound)));
  if (capped !== undefined) return { kind: "failed", failure: failureOf("over-cap", { detail: capped }) };
  const watched = silence?.began({ provider: client.provider, id: client.model });
  const heard = watched && { heard: watched.heard };
  const result = await client.call({ messages, tools, signal, ...heard });
  watched?.ended(result.kind === "answered" ? "answered" : result.failure);
  return result;
}

/** Whether a person can fix it while the attempt waits. The cap of a run cannot be changed. */
function mendable({ whose, cause }: ModelFailure): boolean {
  return whose === "operator" && modelCauses[cause].retry !== "no";
}
