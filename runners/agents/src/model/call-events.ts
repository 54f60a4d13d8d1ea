// The records of model calls that scaffolds and the gateway both write: an answered call, a failed try, a wait.
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import type { LongText, ModelCallEvent, ModelTryEvent, WaitReason } from "@mlrb/formats/attempt/trajectory";
import { type CallBound, type CallCharge, callCharge, type Pricing } from "../spending/call-charge.ts";
import { modelCauses } from "./failure-causes.ts";
import type { ModelFailure } from "./model-client.ts";

export type CallFacts = Pick<
  ModelCallEvent,
  "call" | "by" | "provider" | "model" | "requestDigest" | "messages" | "durationMs" | "tries"
>;

export type RecordedAnswer = Pick<
  ModelCallEvent,
  "answeredBy" | "text" | "reasoning" | "toolCalls" | "finish"
> & { fingerprint?: string; raw?: LongText; surcharge?: string; reach?: string };

export function callEvent(
  facts: CallFacts,
  answer: RecordedAnswer,
  { usage, dollars }: Pick<CallCharge, "usage" | "dollars">,
): ModelCallEvent {
  const { call, by, provider, model, requestDigest, messages, durationMs, tries } = facts;
  const { answeredBy, text, reasoning, toolCalls, finish, fingerprint, raw, surcharge, reach } = answer;
  return {
    event: "model-call",
    ...{ call, by, provider, model, answeredBy, requestDigest, messages },
    ...{ text, reasoning, toolCalls, finish, ...(fingerprint !== undefined && { fingerprint }) },
    ...(raw !== undefined && { raw }),
    ...{ usage, dollars, durationMs, tries, ...(surcharge !== undefined && { surcharge }) },
    ...(reach !== undefined && { reach }),
  };
}

/** What a failed try is charged. */
export function tryCharge(
  { usage, cause }: ModelFailure,
  bound: CallBound,
  { priced, most }: Pricing,
): CallCharge {
  return callCharge({ usage, answered: false, tokens: modelCauses[cause].tokens }, bound, priced, most);
}

/** `waitMs`: how long to wait before the next try; null if there is none. */
export function tryEvent(
  facts: Pick<ModelTryEvent, "by" | "call" | "try" | "waitMs">,
  failure: ModelFailure,
  charge: CallCharge,
): ModelTryEvent {
  const { cause, whose, detail } = failure;
  const { by, call, try: number, waitMs } = facts;
  const { dollars } = charge;
  // without a report of the provider there is no usage, though the try is charged
  const usage = failure.usage === null ? null : charge.usage;
  return {
    ...{ event: "model-try", by, call, try: number },
    ...{ cause, whose, detail, usage, dollars, waitMs },
  };
}

export type FailureWait = {
  why: WaitReason;
  failure: Pick<ModelFailure, "cause" | "whose" | "detail">;
  /** Ms since the epoch. */
  since: number;
  /** Ms since the epoch. */
  now: number;
  /** Until the next try. */
  waitMs: number;
  /** Until patience ends. */
  leftMs: number;
};

/** For the wait board. */
export function failureWait({ why, failure, since, now, waitMs, leftMs }: FailureWait): AttemptWait {
  const { cause, whose, detail } = failure;
  const time = (ms: number) => new Date(ms).toISOString();
  return {
    ...{ why, cause, whose, detail, since: time(since) },
    ...{ nextTry: time(now + waitMs), giveUpAt: time(now + leftMs) },
  };
}
