// The interface between an agent's scaffold and a model of any provider: messages and tools in; a message, its
// usage and its finish out. Callers record, replay, retry and price; an implementation hides the AI SDK.

import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";

export type Message =
  | { role: "system"; text: string }
  /** `shared`: its first characters, which other requests have too: Anthropic caches them. */
  | { role: "user"; text: string; shared?: number }
  | { role: "assistant"; text: string; toolCalls: ToolCall[]; raw?: Json }
  | { role: "tool"; callId: string; name: string; text: string; failed: boolean };

/** `input` is a JSON object; `malformed` is the model's text if it is none. */
export type ToolCall =
  | { id: string; name: string; input: Record<string, Json> }
  | { id: string; name: string; malformed: string };

/** `input`: a JSON schema of an object. */
export type ToolSpec = { name: string; description: string; input: Record<string, Json> };

export type ModelRequest = {
  messages: Message[];
  tools: ToolSpec[];
  signal: AbortSignal;
  /** Called with each part of an answer. */
  heard?: () => void;
};

export type ModelResponse = {
  text: string;
  reasoning: string | null;
  toolCalls: ToolCall[];
  finish: "stop" | "tool-calls" | "length" | "refusal" | "other";
  usage: ModelUsage | null;
  /** The model that the provider names in its answer, e.g. a dated snapshot. */
  answeredBy: string | null;
  /** The provider's name for the model's configuration, e.g. OpenAI's `system_fingerprint`. */
  fingerprint?: string;
  /** Goes back in the assistant's message, e.g. signed reasoning. */
  raw?: Json;
};

/** `cause`: an entry of the table of causes. */
export type ModelFailure = {
  cause: ModelCause;
  whose: FailureOwner;
  detail: string;
  /** Whether the same request may be tried again. */
  retry: boolean;
  /** How long the provider asks to wait. */
  retryAfterMs: number | null;
  /** Counted before the failure. */
  usage: ModelUsage | null;
};

export type ModelResult =
  | { kind: "answered"; response: ModelResponse }
  | { kind: "failed"; failure: ModelFailure };

export type ModelClient = {
  readonly provider: string;
  readonly model: string;
  /** One try. Never throws for a provider's failure; throws the signal's reason once that is aborted. */
  call(request: ModelRequest): Promise<ModelResult>;
};
