// The answer of a scripted model, independent of providers. Other modules translate it into each protocol.

type ScriptedUsage = {
  /** The whole prompt, cached or not, like ModelUsage. */
  input: number;
  output: number;
  cached?: number;
  /** The part of `input` that is written to the cache; only in Anthropic's protocol. */
  cacheWritten?: number;
  reasoning?: number;
};

type ScriptedCall = { id?: string; name: string } & (
  | { input: Record<string, unknown> }
  /** Sent unchanged, e.g. broken JSON. */
  | { rawInput: string }
);

/** Errors of providers, each with its own message and JSON. */
export type Complaint =
  | "rate-limit"
  | "no-money"
  | "overloaded"
  | "server-error"
  | "wrong-key"
  | "forbidden"
  | "unknown-model"
  | "retired-model"
  | "too-long"
  | "bad-request"
  | "policy";

export type Answer = {
  text?: string;
  reasoning?: string;
  toolCalls?: ScriptedCall[];
  /** Replaces the text. */
  refusal?: string;
  finish?: "stop" | "tool-calls" | "length" | "refusal";
  /** null: no usage. By default counted from the characters of request and answer, four per token. */
  usage?: ScriptedUsage | null;
  /** The model in the answer; by default the requested one. */
  answeredBy?: string;
  /** Only in OpenAI's chat completions. */
  fingerprint?: string;
  /** Characters of the body after which the connection is destroyed. */
  cut?: number;
  /** Characters of the body after which it ends as if complete, like a proxy. */
  truncate?: number;
  /** Characters of the body after which nothing follows on the open connection. */
  stall?: number;
  /** The body in pieces of this many characters, with pauses between them. */
  slow?: { characters: number; pauseMs: number };
  /** A stream with an error after its first pieces. A body that is not streamed is the error. */
  complaint?: Complaint;
};

export type Fault =
  /** An answer with this status: the provider's own error, or `body` unchanged. */
  | {
      status: number;
      complaint?: Complaint;
      body?: string;
      retryAfterMs?: number;
      headers?: Record<string, string>;
    }
  /** The request is accepted and never answered. */
  | { hang: true }
  /** The connection is reset before an answer. */
  | { reset: true }
  /** 200 with a page of HTML. */
  | { garbage: true };

export type Reply = Answer | Fault;

export type SeenMessage = {
  role: "system" | "user" | "assistant" | "tool";
  text: string;
  toolCalls?: { id: string; name: string; input: string }[];
  /** Of a tool's result. */
  callId?: string;
};

export type SeenRequest = {
  index: number;
  protocol: "openai-chat" | "openai-responses" | "anthropic" | "google" | "bedrock";
  model: string;
  stream: boolean;
  messages: SeenMessage[];
  tools: string[];
  headers: Record<string, string>;
  /** Unchanged. */
  body: Record<string, unknown>;
};

/** A protocol: reads requests and writes answers. */
export type Protocol = {
  name: SeenRequest["protocol"];
  /** A pattern's first group is the model, its second one the method: `stream…` or `…-stream` streams. */
  path: string | RegExp;
  /** How events are sent; as server-sent events without it. */
  frame?: { type: string; encode(event: { event?: string; data: unknown }): Buffer };
  /** The key in a request. */
  keyOf(headers: Record<string, string>): string | undefined;
  read(body: Record<string, unknown>): Pick<SeenRequest, "messages" | "tools">;
  body(answer: CompleteAnswer): unknown;
  /** Server-sent events; a string `data` is sent unchanged. */
  events(answer: CompleteAnswer): { event?: string; data: unknown }[];
  complain(complaint: Complaint, model: string): { status: number; body: unknown };
  /** The error as an event in the middle of a stream. */
  complainLate(complaint: Complaint, model: string): { event?: string; data: unknown };
  /** The header that names the request. */
  requestIdHeader: string;
};

/** An answer with all fields that a protocol needs. */
export type CompleteAnswer = {
  id: string;
  model: string;
  text: string;
  reasoning: string | null;
  refusal: string | null;
  toolCalls: { id: string; name: string; input: string }[];
  finish: "stop" | "tool-calls" | "length" | "refusal";
  usage: ScriptedUsage | null;
  fingerprint: string | null;
};

export function isFault(reply: Reply): reply is Fault {
  return "status" in reply || "hang" in reply || "reset" in reply || "garbage" in reply;
}

/** `request` is the text of the whole request. */
export function complete(
  answer: Answer,
  about: { index: number; model: string; request: string },
): CompleteAnswer {
  const toolCalls = (answer.toolCalls ?? []).map((call, place) => ({
    id: call.id ?? `call_${about.index}_${place}`,
    name: call.name,
    input: "rawInput" in call ? call.rawInput : JSON.stringify(call.input),
  }));
  const said = [answer.text, answer.reasoning, answer.refusal, ...toolCalls.map((call) => call.input)];
  const counted = {
    input: Math.ceil(about.request.length / 4),
    output: Math.ceil(said.join("").length / 4),
  };
  const finish = answer.refusal !== undefined ? "refusal" : toolCalls.length > 0 ? "tool-calls" : "stop";
  return {
    id: `reply_${about.index}`,
    model: answer.answeredBy ?? about.model,
    text: answer.text ?? "",
    reasoning: answer.reasoning ?? null,
    refusal: answer.refusal ?? null,
    toolCalls,
    finish: answer.finish ?? finish,
    usage: answer.usage === undefined ? counted : answer.usage,
    fingerprint: answer.fingerprint ?? null,
  };
}

/** A text in pieces, as in streams; very long texts have larger pieces. */
export function pieces(text: string): string[] {
  const found: string[] = [];
  const characters = Math.max(24, Math.ceil(text.length / 200));
  for (let at = 0; at < text.length; at += characters) found.push(text.slice(at, at + characters));
  return found;
}

/** The text of a content, which is a string or a list of parts. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (typeof part === "string" ? part : typeof part?.text === "string" ? part.text : ""))
    .join("");
}
