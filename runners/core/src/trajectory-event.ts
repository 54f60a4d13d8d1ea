// What can stand in a trajectory: the supervisor's account of an attempt, one event a line, in the order in which
// it saw them. Types only; trajectory-schema.ts says the same to other programs. Every line carries besides
// `formatVersion`, `index`, `previous` (digest of the line before), `time` and `sinceStartMs`.
import type { FailureOwner } from "@mlrb/formats/failure-owner";
import type { UsedPrice } from "@mlrb/kit/rules/ledger";
import type { ModelCause } from "./model-cause.ts";

/** A text that is longer than a line should be: its beginning, and the digest under which the attachments hold it whole. */
export type LongText = string | { head: string; digest: string; bytes: number };

export type TrajectoryEvent =
  | { event: "start"; [fact: string]: unknown }
  /**
   * What the command line of the run that carries the attempt from here on said of money: at the start, and where
   * another run goes on with it. `prices` are those of the models that it may call, as far as they are known.
   */
  | { event: "purse"; run: string; maxDollars: number | null; prices: UsedPrice[] }
  | { event: "exec"; argv: string[] }
  | { event: "exec-end"; result: unknown; where?: Record<string, string> }
  | { event: "output"; stream: "stdout" | "stderr"; text: string }
  | { event: "output-clipped"; stream: "stdout" | "stderr"; bytes: number }
  /** A line of the agent's iterations.jsonl, or of its `iteration` tool: its claim. */
  | { event: "iteration"; line: string; wellFormed: boolean }
  | { event: "snapshot"; name: string; [fact: string]: unknown }
  | { event: "snapshot-skipped"; because: string }
  | { event: "snapshot-dropped"; name: string }
  /** That this share of the working time is used up. */
  | { event: "budget"; share: number }
  /** What a model is to be reminded of from now on, and the how manyeth look for reminders found it: replay gives it then. */
  | { event: "reminder"; look: number; text: string }
  /** Time that is not the agent's work began and ended; the deadline has moved by it. */
  | {
      event: "wait";
      why: WaitReason;
      durationMs: number;
      /** After it. */
      deadline: string;
      /** For how long of it everything inside was frozen: by that the deadline moved. Absent in older records: by all of it, and nothing was frozen. */
      frozenMs?: number;
      /** Why the deadline did not move. */
      charged?: "cannot-freeze" | "reported-afterwards";
    }
  | MessageEvent
  | ModelRequestEvent
  | RequestPartEvent
  | ModelCallEvent
  | ModelTryEvent
  | ToolCallEvent
  | ToolResultEvent
  | ContextCutEvent
  /** A file that a tool of ours wrote, as it is then; what programs write is seen by snapshots of the submission. */
  | { event: "file-change"; by: string; path: string; digest: string; bytes: number }
  /** What the agent wrote down to keep; survives context cuts. */
  | { event: "note"; by: string; text: LongText }
  | { event: "end"; [fact: string]: unknown };

/** `operator`: what only a person can mend, e.g. a key. */
export type WaitReason = "gpu" | "rate-limit" | "provider" | "operator";

/** What the harness said to a model. `by` names whose conversation it is: `agent`, `supervisor`, `worker-2`. */
export type MessageEvent = {
  event: "message";
  by: string;
  role: "system" | "user";
  /** `notice`: a reminder of the deadline; `nudge`: asked to go on. */
  why: "prompt" | "notice" | "nudge" | "task";
  text: LongText;
};

export type ModelUsage = {
  /** All of the prompt, cached or not. */
  inputTokens: number;
  outputTokens: number;
  /** Of inputTokens; null where the provider does not say. */
  cachedInputTokens: number | null;
  /** Of inputTokens, written to the provider's cache at a price of its own; absent where it does not say. */
  cacheWrittenTokens?: number;
  /** Of outputTokens; null where the provider does not say. */
  reasoningTokens: number | null;
};

/**
 * What a program asks its model through the gateway, before it is sent. Each part of it is a `request-part` event of
 * this call or of an earlier one: system, tools and settings by digest, the messages by the request they go on from.
 */
export type ModelRequestEvent = {
  event: "model-request";
  by: "program";
  call: number;
  provider: string;
  model: string;
  /** How many messages it has. */
  messages: number;
  /** The first messages are those of an earlier call's request; null: all of them follow as parts. */
  sameAs: { call: number; messages: number } | null;
  /** Digests of parts; null where the request has none. Of a system prompt that is a list, one for each block. */
  system: string | string[] | null;
  tools: string | null;
  settings: string;
};

/** A part of a program's request that no earlier request had, in the form of its protocol. */
export type RequestPartEvent = {
  event: "request-part";
  by: "program";
  call: number;
  /** `more-messages`: all after the 10 000th (in older records: the 2 000th), as one list. */
  part: "system" | "tools" | "settings" | "message" | "more-messages";
  /** Of a message: its index in the request, from 0. */
  place: number | null;
  role: string | null;
  /** sha256 of the JSON before secrets were taken out of it. */
  digest: string;
  /** JSON. */
  text: LongText;
  /** An earlier part of the same digest holds the text. */
  again?: true;
};

export type ModelCallEvent = {
  event: "model-call";
  /** From 1, over all conversations of the attempt. */
  call: number;
  by: string;
  provider: string;
  /** As asked for, and as the provider named what answered. */
  model: string;
  answeredBy: string | null;
  /** Of the whole request, with what differs between two attempts left blank (request-digest.ts): replay finds it by this. */
  requestDigest: string;
  messages: number;
  text: LongText;
  reasoning: LongText | null;
  toolCalls: { id: string; name: string; input: LongText; malformed: boolean }[];
  finish: "stop" | "tool-calls" | "length" | "refusal" | "other";
  /** What the provider wants back with the next request, e.g. signatures. */
  raw?: LongText;
  /** null: the provider did not say. */
  usage: ModelUsage | null;
  /** null: no price is known. */
  dollars: number | null;
  durationMs: number;
  tries: number;
};

/** A try of a model call that gave no answer. */
export type ModelTryEvent = {
  event: "model-try";
  by: string;
  call: number;
  try: number;
  /** From the table of causes (failure-causes.ts), e.g. `rate-limit`, `cut-stream`. */
  cause: ModelCause;
  whose: FailureOwner;
  detail: string;
  /** What the provider counted before it failed; null where it did not say. */
  usage: ModelUsage | null;
  dollars: number | null;
  /** Waited before the next try; null where there is none. */
  waitMs: number | null;
};

export type ToolCallEvent = { event: "tool-call"; by: string; id: string; name: string; input: LongText };

export type ToolResultEvent = {
  event: "tool-result";
  by: string;
  id: string;
  name: string;
  /** `refused`: arguments that make no sense, a tool that there is not. `timed-out`: its own limit of time. */
  outcome: "done" | "failed" | "refused" | "timed-out";
  /** Of a program. */
  exit: { code: number } | { signal: string } | null;
  /** What the model is told. */
  text: LongText;
  /** Where in the workspace the whole of it lies, where it was clipped. */
  rest: string | null;
  durationMs: number;
  /** Whether a program of the agent's ran. */
  executed: boolean;
};

type ContextCutEvent = {
  event: "context-cut";
  by: string;
  /** Messages and characters that the model no longer sees, and what stays. */
  messagesCut: number;
  charactersCut: number;
  messagesKept: number;
};

export type { FailureOwner };
