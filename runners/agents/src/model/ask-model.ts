// Asks a model until it answers or refuses: charges, waits, retries and records, each as the table of causes
// defines. Time that a provider makes the attempt wait is not working time.
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelUsage, TrajectoryEvent, WaitReason } from "@mlrb/formats/attempt/trajectory";
import type { HeldCall, Meter } from "../attempt/meter.ts";
import type { AskResult, ScaffoldRequest } from "../scaffold/scaffold.ts";
import { boundUsage, type CallBound, callBound } from "../spending/call-charge.ts";
import type { OperatorDesk } from "../waiting/operator-desk.ts";
import { operatorPause, type Patience, patience, retryPause } from "../waiting/patience.ts";
import { failureWait, type WaitBoard } from "../waiting/wait-board.ts";
import { whilePaused } from "../waiting/while-paused.ts";
import { failureOf } from "./cause-of.ts";
import { costlyTriesMax, isAgents, modelCauses } from "./failure-causes.ts";
import type {
  Message,
  ModelClient,
  ModelFailure,
  ModelResponse,
  ModelResult,
  ToolSpec,
} from "./model-client.ts";
import type { ProviderSilence } from "./provider-silence.ts";
import { ProviderTrouble } from "./provider-trouble.ts";
import { settleAnswer, settleFailure } from "./settle-call.ts";

export type AskModel = {
  client: ModelClient;
  meter: Meter;
  /** null without a known price. */
  dollarsOf(usage: ModelUsage): number | null;
  /** Key of the request in a recording. */
  digest(request: { messages: Message[]; tools: ToolSpec[] }): string;
  write(event: TrajectoryEvent): void;
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
 * One for all conversations of an attempt. The returned function throws `ProviderTrouble` if the model cannot be
 * had, and the signal's reason once that is aborted.
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

/** Between two checks whether other calls have ended. */
export const busyMs = 250;
const callName = (call: number) => `call ${call}`;

type Asked = {
  by: string;
  messages: Message[];
  tools: ToolSpec[];
  call: number;
  /** Whether trouble that a person can mend is waited out. */
  awaitsPerson: boolean;
};
type Trial = { number: number; held: HeldCall; durationMs: number };

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
  readonly #call: Asked;
  readonly #bound: CallBound;
  /** Ms so far, for the provider and for a person. */
  readonly #waited = { provider: 0, operator: 0 };
  readonly #made = { "some-times": 0, once: 0, operator: 0 };
  /** Consecutive waits for one side are one trouble with one beginning. Ms since the epoch. */
  #trouble: { side: "provider" | "operator"; since: number } | undefined;

  constructor(given: AskModel, asked: Asked) {
    this.#given = given;
    this.#call = asked;
    this.#bound = callBound({
      requestBytes: Buffer.byteLength(JSON.stringify([asked.messages, asked.tools])),
      outputTokensMax: given.outputTokensMax,
    });
  }

  async run(): Promise<AskResult> {
    for (let number = 1; ; number++) {
      const held = await this.#hold();
      if (!held) return { kind: "over" };
      const tried = await this.#try(held, number).finally(held.release);
      if (tried.kind !== "again") return tried;
      await this.#wait(tried.failure, tried.next);
      await this.#unpaused();
      if (this.#given.meter.over()) return { kind: "over" };
    }
  }

  /** Calls of other attempts can leave no room under the cap, and of other members of a team under any limit. Undefined once they have used it up. */
  async #hold(): Promise<HeldCall | undefined> {
    const tokens = this.#bound.inputTokens + this.#bound.outputTokens;
    const most = { tokens, dollars: this.#given.dollarsOf(boundUsage(this.#bound)) };
    for (;;) {
      const held = this.#given.meter.hold(most);
      if (held) return held;
      await this.#pause(busyMs);
      await this.#unpaused();
      if (this.#given.meter.over()) return undefined;
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
    held: HeldCall,
    number: number,
  ): Promise<AskResult | { kind: "again"; failure: ModelFailure; next: NextTry }> {
    const { client } = this.#given;
    const begin = this.#now();
    const result = await this.#send(held, number);
    const trial = { number, held, durationMs: Math.round(this.#now() - begin) };
    if (result.kind === "answered") return this.#answered(result.response, trial);
    const { failure } = result;
    // what the agent caused is charged as an answer
    const record = this.#charged(failure, { number, held: isAgents(failure.whose) ? undefined : held });
    const next = this.#nextTry(failure, trial);
    record(next.again ? next.waitMs : null);
    if (failure.cause === "too-long") return { kind: "too-long" };
    if (isAgents(failure.whose))
      return this.#answered(answerOf(failure), trial, modelCauses[failure.cause].tokens);
    if (next.again) return { kind: "again", failure, next };
    const waitedMs = this.#waited.provider + this.#waited.operator;
    const model = { provider: client.provider, id: client.model };
    throw new ProviderTrouble(model, failure, { tries: number, waitedMs });
  }

  /** Sends nothing if the run as a whole may spend no more. */
  async #send(held: HeldCall, number: number): Promise<ModelResult> {
    const { client, meter, dollarsOf, signal, silence } = this.#given;
    const capped = meter.overCap(dollarsOf(boundUsage(this.#bound)));
    if (capped !== undefined) return { kind: "failed", failure: failureOf("over-cap", { detail: capped }) };
    const watched = silence?.began({ provider: client.provider, id: client.model });
    const { messages, tools } = this.#call;
    try {
      const result = await client.call({ messages, tools, signal, ...(watched && { heard: watched.heard }) });
      watched?.ended(result.kind === "answered" ? "answered" : result.failure);
      return result;
    } catch (error) {
      // the attempt ended during the call, which may be billed all the same
      const detail = "the attempt ended before the provider had answered";
      if (signal.aborted) this.#charged(failureOf("idle", { detail }), { number, held })(null);
      throw error;
    }
  }

  #answered(
    response: ModelResponse,
    { number, held, durationMs }: Trial,
    tokens?: "none" | "maybe",
  ): AskResult {
    const { client, digest, dollarsOf } = this.#given;
    const { by, call, messages, tools } = this.#call;
    const { raw, ...answer } = response;
    const toolCalls = response.toolCalls.map(({ id, name, ...one }) => ({
      ...{ id, name, malformed: "malformed" in one },
      input: "input" in one ? JSON.stringify(one.input) : one.malformed,
    }));
    const event = {
      ...{ ...answer, toolCalls, ...(raw !== undefined && { raw: JSON.stringify(raw) }) },
      ...{ call, by, provider: client.provider, model: client.model },
      ...{ requestDigest: digest({ messages, tools }), messages: messages.length },
      ...{ durationMs, tries: number },
    };
    const tried = { bound: this.#bound, held, pricing: { priced: dollarsOf } };
    const { usage } = settleAnswer(this.#given, tried, event, tokens);
    return { kind: "answered", response: { ...response, usage } };
  }

  #charged(failure: ModelFailure, { number, held }: { number: number; held: HeldCall | undefined }) {
    const { by, call } = this.#call;
    const tried = { bound: this.#bound, held, pricing: { priced: this.#given.dollarsOf } };
    return settleFailure(this.#given, tried, { by, call, try: number }, failure);
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
    const { meter, signal, board, options } = this.#given;
    const side = person ? "operator" : "provider";
    const now = (options?.wallNow ?? Date.now)();
    if (this.#trouble?.side !== side) this.#trouble = { side, since: now };
    const { since } = this.#trouble;
    board?.show(callName(this.#call.call), failureWait({ why, failure, since, now, waitMs, leftMs }));
    const begin = this.#now();
    try {
      await meter.waiting(why, () => (person ? person.pause(waitMs, signal) : this.#pause(waitMs)));
    } finally {
      signal.throwIfAborted();
    }
    this.#waited[side] += person ? this.#now() - begin : waitMs;
  }

  #pause(ms: number): Promise<void> {
    const { signal, options } = this.#given;
    return options?.sleep ? options.sleep(ms, signal) : sleep(ms, undefined, { signal });
  }

  #now(): number {
    return this.#given.options?.now?.() ?? performance.now();
  }
}

/**
 * The provider's filter refused the agent's conversation, or its server could not read what the model wrote: this
 * is the answer.
 */
function answerOf({ whose, detail, usage }: ModelFailure): ModelResponse {
  const isRefusal = whose === "agent-refusal";
  return {
    text: isRefusal
      ? `(The provider did not let this request through: ${detail})`
      : `(The provider could not use this answer: ${detail})`,
    ...{ reasoning: null, toolCalls: [], finish: isRefusal ? "refusal" : "other", usage, answeredBy: null },
  };
}

/** Whether a person can fix it while the attempt waits. The cap of a run cannot be changed. */
function mendable({ whose, cause }: ModelFailure): boolean {
  return whose === "operator" && modelCauses[cause].retry !== "no";
}
