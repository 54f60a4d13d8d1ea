// Records what a program asks its model. A request repeats the whole conversation, so only what no earlier request
// of the attempt held is written: each block of the system prompt, the tools and the settings once, and the messages
// after those that an earlier request begins with. Of these, a text that an earlier request had at another place (a
// CLI edits or shortens its conversation) is named by its digest. Readers rebuild any request from `model-request`
// and its parts.
import { createHash } from "node:crypto";
import type { LongText, RequestPartEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { inlineMax } from "../record/attachments.ts";
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
const messagesMax = 10_000;
/** Blocks of a system prompt that get a line each; a longer list is one part. */
const blocksMax = 100;
/** What a line of a part takes besides its text, roughly. */
const lineBytes = 300;
/** A shorter text is written again: a reference is as long. */
const repeatedMax = 300;
/** Conversations that the next request is compared with. */
const conversationsMax = 32;

export type RequestRecorderOptions = {
  write(event: TrajectoryEvent): void;
  /** Bytes of all parts; the texts of later ones keep their digest and length only. */
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
  /** Digests of texts that are written. */
  const written = new Set<string>();
  /** Digests of parts that requests name. */
  const parts = new Set<string>();
  /** Digests of the messages of a request, the last used one first. */
  let conversations: { call: number; digests: string[] }[] = [];
  let bytes = 0;

  const textOf = (json: string, digest: string): { text: LongText; again?: true } => {
    const length = Buffer.byteLength(json);
    const left = { head: "", digest, bytes: length };
    if (written.has(digest)) {
      if (length <= repeatedMax || json.length > inlineMax) return { text: json }; // the attachments hold a long one once
      return { text: left, again: true };
    }
    if (bytes + lineBytes + length > bytesMax) return { text: left };
    bytes += lineBytes + length;
    written.add(digest);
    return { text: json };
  };

  /** Digest of the part; writes it where no earlier request had it. */
  const once = (call: number, part: "system" | "tools" | "settings", value: Json): string => {
    const json = serialized(value);
    const digest = digestOf(json);
    if (!parts.has(digest)) {
      parts.add(digest);
      write({
        event: "request-part",
        by: "program",
        call,
        part,
        place: null,
        role: null,
        digest,
        ...textOf(json, digest),
      });
    }
    return digest;
  };

  /** A CLI may change one block at every request, and leave the long ones as they are. */
  const systemOf = (call: number, system: Json) =>
    Array.isArray(system) && system.length <= blocksMax
      ? system.map((block) => once(call, "system", block))
      : once(call, "system", system);

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
        system: system.length === 0 ? null : systemOf(call, system.length === 1 ? system[0]! : system),
        tools: tools === undefined ? null : once(call, "tools", tools),
        settings: once(call, "settings", settings),
      };
      write(event);
      for (let place = before.length; place < texts.length; place++) {
        const part: RequestPartEvent["part"] = place < messagesMax ? "message" : "more-messages";
        const role = part === "message" ? roleOf(messages[place]!) : null;
        const digest = digests[place]!;
        const text = textOf(texts[place]!, digest);
        write({ event: "request-part", by: "program", call, part, place, role, digest, ...text });
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
