// Charges and records one try of a call: the answer, a failure, or the refusal of a provider's filter.

import type { ModelUsage, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { HeldCall, Meter } from "../attempt/meter.ts";
import type { AskResult } from "../scaffold/scaffold.ts";
import { type CallBound, callCharge } from "../spending/call-charge.ts";
import { callEvent, tryCharge, tryEvent } from "./call-events.ts";
import { isAgents, modelCauses } from "./failure-causes.ts";
import type { Message, ModelClient, ModelFailure, ModelResponse, ToolSpec } from "./model-client.ts";

/** Where calls of one model are charged and recorded. */
export type CallAccount = {
  client: ModelClient;
  meter: Meter;
  /** null without a known price. */
  dollarsOf(usage: ModelUsage): number | null;
  /** Key of the request in a recording. */
  digest(request: { messages: Message[]; tools: ToolSpec[] }): string;
  write(event: TrajectoryEvent): void;
};

export type Call = {
  by: string;
  messages: Message[];
  tools: ToolSpec[];
  call: number;
  /** Whether trouble that a person can mend is waited out. */
  awaitsPerson: boolean;
};
export type BoundCall = Call & { bound: CallBound };
export type SentCall = BoundCall & { held: HeldCall };
export type Trial = { number: number; durationMs: number };

export function takeAnswer(
  { client, meter, dollarsOf, digest, write }: CallAccount,
  { by, messages, tools, call, bound, held }: SentCall,
  {
    response: reported,
    trial,
    tokens = "maybe",
  }: { response: ModelResponse; trial: Trial; tokens?: "none" | "maybe" },
): AskResult {
  const charge = callCharge({ usage: reported.usage, answered: true, tokens }, bound, dollarsOf);
  const { raw, ...answer } = reported;
  const { answeredBy, fingerprint } = answer;
  const served = {
    ...{ provider: client.provider, model: client.model, answeredBy },
    ...(fingerprint !== undefined && { fingerprint }),
  };
  meter.charge({ ...charge, served }, held);
  const facts = {
    ...{ call, by, provider: client.provider, model: client.model },
    ...{ requestDigest: digest({ messages, tools }), messages: messages.length },
    ...{ durationMs: trial.durationMs, tries: trial.number },
  };
  const toolCalls = reported.toolCalls.map((one) => ({
    id: one.id,
    name: one.name,
    input: "input" in one ? JSON.stringify(one.input) : one.malformed,
    malformed: "malformed" in one,
  }));
  write(
    callEvent(
      facts,
      { ...answer, toolCalls, ...(raw !== undefined && { raw: JSON.stringify(raw) }) },
      charge,
    ),
  );
  return { kind: "answered", response: { ...reported, usage: charge.usage } };
}

/** Charges at once; the event is written when it is known whether another try follows. */
export function chargeFailure(
  { meter, dollarsOf, write }: CallAccount,
  { by, call, bound, held }: SentCall,
  { failure, number }: { failure: ModelFailure; number: number },
): (waitMs: number | null) => void {
  const charge = tryCharge(failure, bound, { priced: dollarsOf });
  // what the agent caused is charged as an answer
  if (!isAgents(failure.whose)) meter.charge(charge, held);
  return (waitMs) => write(tryEvent({ by, call, try: number, waitMs }, failure, charge));
}

/**
 * The provider's filter refused the agent's conversation, or its server could not read what the model wrote: this is
 * the answer.
 */
export function failedAnswer(
  given: CallAccount,
  asked: SentCall,
  { failure, trial }: { failure: ModelFailure; trial: Trial },
): AskResult {
  const isRefusal = failure.whose === "agent-refusal";
  const response: ModelResponse = {
    text: isRefusal
      ? `(The provider did not let this request through: ${failure.detail})`
      : `(The provider could not use this answer: ${failure.detail})`,
    reasoning: null,
    toolCalls: [],
    finish: isRefusal ? "refusal" : "other",
    usage: failure.usage,
    answeredBy: null,
  };
  return takeAnswer(given, asked, { response, trial, tokens: modelCauses[failure.cause].tokens });
}
