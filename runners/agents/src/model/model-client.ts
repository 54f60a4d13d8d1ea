// The one way in which an agent's scaffold reaches a model, whoever serves it: messages and tools in, a message,
// its usage and its finish out. Recording, strict replay, retries and prices stand around it; the AI SDK and its
// majors stand behind it.

import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";

export type Message =
  | { role: "system" | "user"; text: string }
  | { role: "assistant"; text: string; toolCalls: ToolCall[]; raw?: Json }
  | { role: "tool"; callId: string; name: string; text: string; failed: boolean };

/** `input` is a JSON object; `malformed` is what the model wrote in place of one. */
export type ToolCall =
  | { id: string; name: string; input: Record<string, Json> }
  | { id: string; name: string; malformed: string };

/** `input` is a JSON schema of an object. */
export type ToolSpec = { name: string; description: string; input: Record<string, Json> };

export type ModelRequest = {
  messages: Message[];
  tools: ToolSpec[];
  signal: AbortSignal;
  /** Called when the first bytes of an answer come. */
  heard?: () => void;
};

export type ModelResponse = {
  text: string;
  reasoning: string | null;
  toolCalls: ToolCall[];
  finish: "stop" | "tool-calls" | "length" | "refusal" | "other";
  usage: ModelUsage | null;
  /** What the provider named as having answered, e.g. a dated snapshot. */
  answeredBy: string | null;
  /** To be sent back in the assistant's message, e.g. signed reasoning. */
  raw?: Json;
};

/** What a model call can fail of; `cause` is an entry of the table of causes. */
export type ModelFailure = {
  cause: ModelCause;
  whose: FailureOwner;
  detail: string;
  /** Whether the same request may be tried again, and how long the provider asked to wait. */
  retry: boolean;
  retryAfterMs: number | null;
  /** What was counted before it failed. */
  usage: ModelUsage | null;
};

export type ModelResult =
  | { kind: "answered"; response: ModelResponse }
  | { kind: "failed"; failure: ModelFailure };

export type ModelClient = {
  readonly provider: string;
  readonly model: string;
  /** One try. Never throws for what a provider does; throws the signal's reason when it is aborted. */
  call(request: ModelRequest): Promise<ModelResult>;
};
