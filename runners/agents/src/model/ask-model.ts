// Asks a model until it answers or will not: charges, waits, retries and records on the way, each as the table of
// causes says. Its time while a provider makes it wait is nobody's work.
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelCallEvent, ModelUsage, TrajectoryEvent } from "@mlrb/core/trajectory-event";
import type { Meter } from "../meter.ts";
import type { Asked, ScaffoldRequest } from "../scaffold/scaffold.ts";
import { causeRow, costlyTriesMax, type ModelCause } from "./failure-causes.ts";
import type { Message, ModelClient, ModelFailure, ModelResponse, ToolSpec } from "./model-client.ts";
import { ProviderTrouble } from "./provider-trouble.ts";
import { retryPause } from "./retry-pause.ts";

export type AskModel = {
  client: ModelClient;
  meter: Meter;
  /** null: no price is known. */
  dollarsOf(usage: ModelUsage): number | null;
  /** By what a replay finds the request. */
  digest(request: { messages: Message[]; tools: ToolSpec[] }): string;
  write(event: TrajectoryEvent): void;
  signal: AbortSignal;
  options?: AskOptions;
};

export type AskOptions = {
  /** How long one call is waited for in all; an hour unless told otherwise. */
  patienceMs?: number;
  /** Throws when the signal is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  random?: () => number;
  /** Monotonic, ms. */
  now?: () => number;
};

const nothing: ModelUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

/**
 * One for all conversations of an attempt. What it gives throws `ProviderTrouble` where the model cannot be had,
 * and the signal's reason when that is aborted.
 */
export function askModel(given: AskModel): ScaffoldRequest["ask"] {
  let calls = 0;
  return (by, messages, tools) => {
    given.signal.throwIfAborted();
    // a budget that is used up leaves no gap in the numbers
    if (given.meter.over()) return Promise.resolve<Asked>({ kind: "over" });
    return oneCall(given, { by, messages, tools, call: ++calls });
  };
}

type Call = { by: string; messages: Message[]; tools: ToolSpec[]; call: number };
type Trial = { number: number; durationMs: number };

async function oneCall(given: AskModel, asked: Call): Promise<Asked> {
  const { client, meter, signal, options = {} } = given;
  const { patienceMs = 3_600_000, random = Math.random, now = () => performance.now() } = options;
  const pause = options.sleep ?? ((ms: number) => sleep(ms, undefined, { signal }).then(() => {}));
  let waitedMs = 0;
  let costly = 0;
  for (let number = 1; ; number++) {
    const begin = now();
    const result = await client.call({ messages: asked.messages, tools: asked.tools, signal });
    const trial = { number, durationMs: Math.round(now() - begin) };
    if (result.kind === "answered") return takeAnswer(given, asked, { response: result.response, trial });

    const { failure } = result;
    const row = causeRow(failure.cause as ModelCause);
    const told = tellFailure(given, asked, { failure, number });
    if (row.time !== "work") meter.waited?.(row.time, trial.durationMs);
    waitedMs += trial.durationMs;
    if (row.retry === "some-times") costly++;
    const waitMs = retryPause(number, failure.retryAfterMs, random);
    const again = failure.retry && costly < costlyTriesMax && waitedMs + waitMs <= patienceMs;
    told(again ? waitMs : null);
    if (failure.cause === "too-long") return { kind: "too-long" };
    if (failure.whose === "agent-refusal") return blocked(given, asked, { failure, trial });
    if (!again) {
      const model = { provider: client.provider, id: client.model };
      throw new ProviderTrouble(model, failure, { tries: number, waitedMs });
    }
    waitedMs += waitMs;
    try {
      await meter.waiting(row.time === "work" ? "provider" : row.time, () => pause(waitMs, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
    signal.throwIfAborted();
    if (meter.over()) return { kind: "over" };
  }
}

function takeAnswer(
  { client, meter, dollarsOf, digest, write }: AskModel,
  { by, messages, tools, call }: Call,
  { response, trial }: { response: ModelResponse; trial: Trial },
): Asked {
  const { usage, raw, toolCalls, ...rest } = response;
  const dollars = priceOf(usage, dollarsOf);
  meter.charge({ usage, dollars, answered: true });
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
  { by, call }: Call,
  { failure, number }: { failure: ModelFailure; number: number },
): (waitMs: number | null) => void {
  const { cause, whose, detail, usage } = failure;
  const spentNothing = usage === null && causeRow(cause as ModelCause).tokens === "none";
  const dollars = spentNothing ? 0 : priceOf(usage, dollarsOf);
  // what the provider's filter stopped is charged as the answer that it is
  if (whose !== "agent-refusal")
    meter.charge({ usage: spentNothing ? nothing : usage, dollars, answered: false });
  return (waitMs) =>
    write({ event: "model-try", by, call, try: number, cause, whose, detail, usage, dollars, waitMs });
}

/** The provider's filter refused what the agent's conversation has become: the refusal is its answer. */
function blocked(
  given: AskModel,
  asked: Call,
  { failure, trial }: { failure: ModelFailure; trial: Trial },
): Asked {
  const response: ModelResponse = {
    text: `(The provider did not let this request through: ${failure.detail})`,
    reasoning: null,
    toolCalls: [],
    finish: "refusal",
    usage: nothing,
    answeredBy: null,
  };
  return takeAnswer({ ...given, dollarsOf: () => 0 }, asked, { response, trial });
}

/** Uncounted tokens cost nothing only where all of them do. */
function priceOf(usage: ModelUsage | null, dollarsOf: AskModel["dollarsOf"]): number | null {
  if (usage !== null) return dollarsOf(usage);
  return dollarsOf({ ...nothing, inputTokens: 1, outputTokens: 1 }) === 0 ? 0 : null;
}
