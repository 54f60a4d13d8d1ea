// What a scripted model answers, in no provider's words. The modules beside put it into each protocol's form.

type ScriptedUsage = {
  /** All of the prompt, cached or not, as ModelUsage counts. */
  input: number;
  output: number;
  cached?: number;
  /** Of `input`, written to the cache; only Anthropic's protocol says it. */
  cacheWritten?: number;
  reasoning?: number;
};

type ScriptedCall = { id?: string; name: string } & (
  | { input: Record<string, unknown> }
  /** Sent as it is: broken JSON, for instance. */
  | { rawInput: string }
);

/** What providers complain of, each in its own words and JSON. */
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
  /** Instead of a text. */
  refusal?: string;
  finish?: "stop" | "tool-calls" | "length" | "refusal";
  /** null: none is said. Without it: counted from the characters of request and answer, four to a token. */
  usage?: ScriptedUsage | null;
  /** The model that is named as having answered; else the one that was asked. */
  answeredBy?: string;
  /** Characters of the body after which the connection is destroyed. */
  cut?: number;
  /** Characters of the body after which it ends as though it were whole: what a proxy does. */
  truncate?: number;
  /** Characters of the body after which nothing more comes, though the connection stays. */
  stall?: number;
  /** The body in pieces of so many characters, with a pause between. */
  slow?: { characters: number; pauseMs: number };
  /** A stream that complains after its first pieces; a body that is not streamed complains at once. */
  complaint?: Complaint;
};

export type Fault =
  /** Answered with this status: the provider's own complaint, or `body` as it is. */
  | {
      status: number;
      complaint?: Complaint;
      body?: string;
      retryAfterMs?: number;
      headers?: Record<string, string>;
    }
  /** The request is taken and never answered. */
  | { hang: true }
  /** The connection is reset before a word is said. */
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
  protocol: "openai-chat" | "openai-responses" | "anthropic";
  model: string;
  stream: boolean;
  messages: SeenMessage[];
  tools: string[];
  headers: Record<string, string>;
  /** As it came. */
  body: Record<string, unknown>;
};

/** A protocol: how its requests are read and how its answers are put. */
export type Protocol = {
  name: SeenRequest["protocol"];
  path: string;
  /** The key that a request carries. */
  keyOf(headers: Record<string, string>): string | undefined;
  read(body: Record<string, unknown>): Pick<SeenRequest, "messages" | "tools">;
  body(answer: CompleteAnswer): unknown;
  /** Server-sent events; a `data` that is a string is sent as it is. */
  events(answer: CompleteAnswer): { event?: string; data: unknown }[];
  complain(complaint: Complaint, model: string): { status: number; body: unknown };
  /** The complaint as an event in the middle of a stream. */
  complainLate(complaint: Complaint, model: string): { event?: string; data: unknown };
  /** How it names the request. */
  requestIdHeader: string;
};

/** An answer with all that a protocol must say filled in. */
export type CompleteAnswer = {
  id: string;
  model: string;
  text: string;
  reasoning: string | null;
  refusal: string | null;
  toolCalls: { id: string; name: string; input: string }[];
  finish: "stop" | "tool-calls" | "length" | "refusal";
  usage: ScriptedUsage | null;
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
  };
}

/** A text in pieces, as streams bring it; an enormous one in larger pieces. */
export function pieces(text: string): string[] {
  const found: string[] = [];
  const characters = Math.max(24, Math.ceil(text.length / 200));
  for (let at = 0; at < text.length; at += characters) found.push(text.slice(at, at + characters));
  return found;
}

/** The text of a content that is a string or a list of parts. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (typeof part === "string" ? part : typeof part?.text === "string" ? part.text : ""))
    .join("");
}
