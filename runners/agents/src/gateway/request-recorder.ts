// Records what a program asks its model. A request repeats the whole conversation, so only what no earlier request
// of the attempt held is written: the system prompt, the tools and the settings once each, and the messages after
// those that an earlier request begins with. Readers rebuild any request from `model-request` and its parts.
import { createHash } from "node:crypto";
import type { LongText, RequestPartEvent, TrajectoryEvent } from "@mlrb/core/trajectory-event";
import type { Json } from "@mlrb/kit/stage";
import type { CallFormat } from "./route-request.ts";

type Fields = { system: string[]; messages: string };

/** Where each protocol keeps the parts of a request. `tools` and everything else have one name in all of them. */
const fieldsOf: Record<CallFormat, Fields> = {
  "openai-chat": { system: [], messages: "messages" },
  "openai-responses": { system: ["instructions"], messages: "input" },
  anthropic: { system: ["system"], messages: "messages" },
  google: { system: ["systemInstruction", "system_instruction"], messages: "contents" },
};

/** Messages of one request that get a line each; what comes after them is one part. */
const messagesMax = 2000;
/** Conversations that the next request is compared with. */
const conversationsMax = 32;

export type RequestRecorderOptions = {
  write(event: TrajectoryEvent): void;
  /** Bytes of all texts; later parts keep their digest and length only. */
  bytesMax?: number;
};

export type RecordedRequest = {
  call: number;
  provider: string;
  model: string;
  format: CallFormat;
  /** The body as its provider gets it. */
  body: Record<string, Json>;
};

export function requestRecorder({ write, bytesMax = 256 << 20 }: RequestRecorderOptions) {
  const known = new Set<string>();
  /** Digests of the messages of a request, the last used one first. */
  let conversations: { call: number; digests: string[] }[] = [];
  let bytes = 0;

  const textOf = (json: string): LongText => {
    const length = Buffer.byteLength(json);
    if (bytes + length > bytesMax) return { head: "", digest: digestOf(json), bytes: length };
    bytes += length;
    return json;
  };

  /** Digest of the part; writes it where no earlier request had it. */
  const once = (call: number, part: "system" | "tools" | "settings", value: Json): string => {
    const json = serialized(value);
    const digest = digestOf(json);
    if (!known.has(digest)) {
      known.add(digest);
      write({
        event: "request-part",
        by: "program",
        call,
        part,
        place: null,
        role: null,
        digest,
        text: textOf(json),
      });
    }
    return digest;
  };

  return {
    /** Before the request is sent. */
    record({ call, provider, model, format, body }: RecordedRequest): void {
      const { system: systemNames, messages: messagesName } = fieldsOf[format];
      const { tools, [messagesName]: given, ...rest } = body;
      const settings: Record<string, Json> = {};
      const system: Json[] = [];
      for (const [name, value] of Object.entries(rest))
        if (systemNames.includes(name)) system.push(value);
        else settings[name] = value;
      const messages = given === undefined ? [] : Array.isArray(given) ? given : [given];
      const texts = messages.slice(0, messagesMax).map(serialized);
      if (messages.length > messagesMax) texts.push(serialized(messages.slice(messagesMax)));
      const digests = texts.map(digestOf);
      const before = longestStart(conversations, digests);
      const event: TrajectoryEvent = {
        event: "model-request",
        by: "program",
        call,
        provider,
        model,
        messages: digests.length,
        sameAs: before.length === 0 ? null : { call: before.call, messages: before.length },
        system: system.length === 0 ? null : once(call, "system", system.length === 1 ? system[0]! : system),
        tools: tools === undefined ? null : once(call, "tools", tools),
        settings: once(call, "settings", settings),
      };
      write(event);
      for (let place = before.length; place < texts.length; place++) {
        const part: RequestPartEvent["part"] = place < messagesMax ? "message" : "more-messages";
        const role = part === "message" ? roleOf(messages[place]!) : null;
        const [digest, text] = [digests[place]!, textOf(texts[place]!)];
        write({ event: "request-part", by: "program", call, part, place, role, digest, text });
      }
      // a request that goes on with a conversation takes its place
      const others = conversations.filter(
        (one) => one.call !== before.call || before.length < one.digests.length,
      );
      conversations = [{ call, digests }, ...others].slice(0, conversationsMax);
    },
  };
}

function longestStart(conversations: { call: number; digests: string[] }[], digests: string[]) {
  let longest = { call: 0, length: 0 };
  for (const { call, digests: other } of conversations) {
    let length = 0;
    while (length < digests.length && digests[length] === other[length]) length++;
    if (length > longest.length) longest = { call, length };
  }
  return longest;
}

/** Marks of a provider's cache are left out: they move from message to message and say nothing. */
function serialized(value: Json): string {
  try {
    return JSON.stringify(value, (key, one: Json) => (key === "cache_control" ? undefined : one)) ?? "null";
  } catch {
    return '"nested too deeply to be recorded"';
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function roleOf(message: Json): string | null {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return null;
  const role = message.role ?? message.type;
  return typeof role === "string" ? role.slice(0, 40) : null;
}
