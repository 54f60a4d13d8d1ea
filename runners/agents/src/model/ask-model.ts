// Asks a model until it answers or will not: charges, waits, retries and records on the way, each as the table of
// causes says. Its time while a provider makes it wait is nobody's work.
import { setTimeout as sleep } from "node:timers/promises";
import type {
  ModelCallEvent,
  ModelUsage,
  TrajectoryEvent,
  WaitReason,
} from "@mlrb/formats/attempt/trajectory";
import type { Meter } from "../attempt/meter.ts";
import type { AskResult, ScaffoldRequest } from "../scaffold/scaffold.ts";
import type { OperatorDesk } from "../waiting/operator-desk.ts";
import { operatorPause, type Patience, patience } from "../waiting/patience.ts";
import type { WaitBoard } from "../waiting/wait-board.ts";
import { boundUsage, type CallBound, callBound, callCharge } from "./call-charge.ts";
import { failureOf } from "./cause-of.ts";
import { causeRow, costlyTriesMax } from "./failure-causes.ts";
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
import { retryPause } from "./retry-pause.ts";

export type AskModel = {
  client: ModelClient;
  meter: Meter;
  /** null: no price is known. */
  dollarsOf(usage: ModelUsage): number | null;
  /** Learns how each try goes. */
  silence?: ProviderSilence;
  /** As the preset says it. */
  outputTokensMax?: number;
  /** By what a replay finds the request. */
  digest(request: { messages: Message[]; tools: ToolSpec[] }): string;
  write(event: TrajectoryEvent): void;
  signal: AbortSignal;
  /** Without a desk no person can be waited for: then such trouble ends the attempt. */
  desk?: OperatorDesk;
  board?: WaitBoard;
  options?: AskOptions;
};

export type AskOptions = {
  /** How long one call is waited for in all: for its provider, and for a person. */
  patience?: Patience;
  /** Throws when the signal is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  random?: () => number;
  /** Monotonic, ms. */
  now?: () => number;
  /** Ms since the epoch: for what is shown. */
  wallNow?: () => number;
};

/**
 * One for all conversations of an attempt. What it gives throws `ProviderTrouble` where the model cannot be had,
 * and the signal's reason when that is aborted.
 */
export function askModel(given: AskModel): ScaffoldRequest["ask"] {
  let calls = 0;
  let answered = 0;
  return async (by, messages, tools) => {
    given.signal.throwIfAborted();
    // a budget that is used up leaves no gap in the numbers
    if (given.meter.over()) return { kind: "over" };
    const call = ++calls;
    // before anything was answered there is nothing to lose: a wrong key is told at once
    const { desk, ...rest } = given;
    try {
      const asked = { by, messages, tools, call };
      const got = await oneCall(desk && answered > 0 ? given : rest, asked);
      if (got.kind === "answered") answered++;
      return got;
    } finally {
      given.board?.clear(callName(call));
    }
  };
}

type Call = { by: string; messages: Message[]; tools: ToolSpec[]; call: number };
type BoundCall = Call & { bound: CallBound };
type Trial = { number: number; durationMs: number };

/** Between two looks at whether other attempts' calls have ended. */
export const busyMs = 250;
const callName = (call: number) => `call ${call}`;

async function oneCall(given: AskModel, asked: Call): Promise<AskResult> {
  const { client, meter, dollarsOf, signal, desk, options = {} } = given;
  const { random = Math.random, now = () => performance.now() } = options;
  const most = options.patience ?? patience;
  const bound = callBound({
    requestBytes: Buffer.byteLength(JSON.stringify([asked.messages, asked.tools])),
    outputTokensMax: given.outputTokensMax,
  });
  const dollars = dollarsOf(boundUsage(bound));
  const booked = { tokens: bound.inputTokens + bound.outputTokens, dollars };
  const pause = options.sleep ?? ((ms: number) => sleep(ms, undefined, { signal }).then(() => {}));
  const show = waitShown(given, asked.call);
  /** Of this call so far, for its provider and for a person. */
  const waited = { provider: 0, operator: 0 };
  const made = { "some-times": 0, once: 0, operator: 0 };
  for (let number = 1; ; number++) {
    const begin = now();
    // conversations of one attempt take turns, so it is calls of other attempts that may leave no room under the cap
    let release = meter.hold(booked);
    for (; release === undefined; release = meter.hold(booked)) await pause(busyMs, signal);
    const call = { ...asked, bound };
    let result: ModelResult;
    try {
      result = await oneTry(given, call);
    } catch (error) {
      // it was ended in the middle of a call, which may be billed all the same
      if (signal.aborted) tellFailure(given, call, { failure: failureOf("idle", unanswered), number })(null);
      throw error;
    } finally {
      release();
    }
    const trial = { number, durationMs: Math.round(now() - begin) };
    if (result.kind === "answered") return takeAnswer(given, call, { response: result.response, trial });

    const { failure } = result;
    const row = causeRow(failure.cause);
    const told = tellFailure(given, call, { failure, number });
    if (row.time !== "work") meter.waited?.(row.time, trial.durationMs);
    if (row.retry === "some-times" || row.retry === "once") made[row.retry]++;
    const soon = failure.retry && made["some-times"] < costlyTriesMax && made.once < 2;
    const person = !soon && mendable(failure) ? desk : undefined;
    const side = person ? "operator" : "provider";
    waited[side] += trial.durationMs;
    const leftMs = Math.max(0, most[`${side}Ms`] - waited[side]);
    const waitMs = person
      ? Math.min(leftMs, operatorPause(++made.operator, failure.retryAfterMs, random))
      : retryPause(number, failure.retryAfterMs, random);
    const again = person ? leftMs > 0 : soon && waitMs <= leftMs;
    told(again ? waitMs : null);
    if (failure.cause === "too-long") return { kind: "too-long" };
    if (failure.whose === "agent-refusal") return blocked(given, call, { failure, trial });
    if (!again) {
      const model = { provider: client.provider, id: client.model };
      throw new ProviderTrouble(model, failure, {
        tries: number,
        waitedMs: waited.provider + waited.operator,
      });
    }
    const why = person ? "operator" : row.time === "work" ? "provider" : row.time;
    show({ why, failure, waitMs, leftMs });
    const pausedAt = now();
    try {
      await meter.waiting(why, () => (person ? person.pause(waitMs, signal) : pause(waitMs, signal)));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
    signal.throwIfAborted();
    waited[side] += person ? now() - pausedAt : waitMs;
    if (meter.over()) return { kind: "over" };
  }
}

const unanswered = { detail: "the attempt ended before the provider had answered" };

/** Never sent where the run as a whole may spend no more. */
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

/** What a person can mend while the attempt waits. A limit that the run was started with is no such thing. */
function mendable({ whose, cause }: ModelFailure): boolean {
  return whose === "operator" && causeRow(cause).retry !== "no";
}

/** Shows each wait of one call; the waits for one side are one trouble since the first of them. */
function waitShown({ board, options = {} }: Pick<AskModel, "board" | "options">, call: number) {
  const { wallNow = Date.now } = options;
  let since: { side: string; at: number } | undefined;
  return (wait: { why: WaitReason; failure: ModelFailure; waitMs: number; leftMs: number }) => {
    const { why, failure, waitMs, leftMs } = wait;
    const { cause, whose, detail } = failure;
    const side = why === "operator" ? "operator" : "provider";
    const at = wallNow();
    if (since?.side !== side) since = { side, at };
    const time = (ms: number) => new Date(ms).toISOString();
    board?.show(callName(call), {
      ...{ why, cause, whose, detail, since: time(since.at) },
      ...{ nextTry: time(at + waitMs), giveUpAt: time(at + leftMs) },
    });
  };
}

function takeAnswer(
  { client, meter, dollarsOf, digest, write }: AskModel,
  { by, messages, tools, call, bound }: BoundCall,
  {
    response: reported,
    trial,
    tokens = "maybe",
  }: { response: ModelResponse; trial: Trial; tokens?: "none" | "maybe" },
): AskResult {
  const charge = callCharge({ usage: reported.usage, answered: true, tokens }, bound, dollarsOf);
  meter.charge(charge);
  const { usage, dollars } = charge;
  const response = { ...reported, usage };
  const { usage: _, raw, toolCalls, ...rest } = response;
  const event: ModelCallEvent = {
    event: "model-call",
    call,
    by,
    provider: client.provider,
    model: client.model,
    answeredBy: rest.answeredBy,
    requestDigest: digest({ messages, tools }),
    messages: messages.length,
    text: rest.text,
    reasoning: rest.reasoning,
    toolCalls: toolCalls.map((one) => ({
      id: one.id,
      name: one.name,
      input: "input" in one ? JSON.stringify(one.input) : one.malformed,
      malformed: "malformed" in one,
    })),
    finish: rest.finish,
    ...(raw !== undefined && { raw: JSON.stringify(raw) }),
    usage,
    dollars,
    durationMs: trial.durationMs,
    tries: trial.number,
  };
  write(event);
  return { kind: "answered", response };
}

/** Charged at once; the event is written when it is known whether there is another try. */
function tellFailure(
  { meter, dollarsOf, write }: AskModel,
  { by, call, bound }: BoundCall,
  { failure, number }: { failure: ModelFailure; number: number },
): (waitMs: number | null) => void {
  const { cause, whose, detail } = failure;
  const { tokens } = causeRow(cause);
  const charge = callCharge({ usage: failure.usage, answered: false, tokens }, bound, dollarsOf);
  // what the provider's filter stopped is charged as the answer that it is
  if (whose !== "agent-refusal") meter.charge(charge);
  const usage = failure.usage === null ? null : charge.usage;
  const { dollars } = charge;
  return (waitMs) =>
    write({ event: "model-try", by, call, try: number, cause, whose, detail, usage, dollars, waitMs });
}

/** The provider's filter refused what the agent's conversation has become: the refusal is its answer. */
function blocked(
  given: AskModel,
  asked: BoundCall,
  { failure, trial }: { failure: ModelFailure; trial: Trial },
): AskResult {
  const response: ModelResponse = {
    text: `(The provider did not let this request through: ${failure.detail})`,
    reasoning: null,
    toolCalls: [],
    finish: "refusal",
    usage: null,
    answeredBy: null,
  };
  return takeAnswer(given, asked, { response, trial, tokens: "none" });
}
