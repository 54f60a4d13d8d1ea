// Records a program's model requests. A request repeats the whole conversation, so only parts that no earlier
// request of the attempt had are written: each block of the system prompt, the tools and the settings once, and
// the messages after those that an earlier request begins with. A text that an earlier request had at another
// place (a CLI edits or shortens its conversation) is named by its digest. `model-request` and its parts are
// enough to rebuild any request.
import { hash } from "node:crypto";
import type { LongText, RequestPartEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isTable } from "@mlrb/formats/is-table";
import type { Json } from "@mlrb/kit/stage";
import { inlineMax } from "../record/attachments.ts";
import type { CallFormat } from "./route-request.ts";

type Fields = { system: string[]; messages: string };

/** Where each protocol keeps the parts of a request. `tools` and the settings have the same names in all of them. */
const fieldsOf: Record<CallFormat, Fields> = {
  "openai-chat": { system: [], messages: "messages" },
  "openai-responses": { system: ["instructions"], messages: "input" },
  anthropic: { system: ["system"], messages: "messages" },
  google: { system: ["systemInstruction", "system_instruction"], messages: "contents" },
};

/** Messages of one request that get a line each; the rest is one part. */
const messagesMax = 10_000;
/** Blocks of a system prompt that get a line each; a longer list is one part. */
const blocksMax = 100;
/** About what a line of a part takes besides its text. */
const lineBytes = 300;
/** A shorter text is written again: a reference is as long. */
const repeatedMax = 300;
/** About what a line holds of a text that is an attachment. */
const headBytes = 2_000;
/** Conversations that the next request is compared with. */
const conversationsMax = 32;

/** Names of dropped or reaching fields in one attempt: a hostile program can invent any number. */
const namesMax = 1000;

export type RequestRecorderOptions = {
  write(event: TrajectoryEvent): void;
  /**
   * Bytes of all parts. Once they are used, a request takes one line for its new messages, and new texts keep
   * their digest and length only.
   */
  bytesMax?: number;
};

export type RecordedRequest = {
  call: number;
  provider: string;
  model: string;
  format: CallFormat;
  /** The body as its provider gets it. */
  body: Record<string, Json>;
  /** Names of fields and headers that the gateway left out. */
  dropped?: readonly string[];
  /** Names of fields by which the provider may search or fetch. */
  reaches?: readonly string[];
};

/** A request of an earlier call, by the digests of its messages. */
type Conversation = { call: number; digests: string[] };

export class RequestRecorder {
  readonly #write: RequestRecorderOptions["write"];
  readonly #bytesMax: number;
  /** Digests of written texts. */
  readonly #written = new Set<string>();
  /** Digests of parts that requests name. */
  readonly #named = new Set<string>();
  /** The last used one first. */
  #conversations: Conversation[] = [];
  #bytes = 0;
  /** Names that an earlier request of the attempt has recorded. */
  readonly #recorded = { dropped: new Set<string>(), reaches: new Set<string>() };

  constructor({ write, bytesMax = 256 << 20 }: RequestRecorderOptions) {
    this.#write = write;
    this.#bytesMax = bytesMax;
  }

  /** To be called before the request is sent. */
  record({ call, provider, model, format, body, dropped = [], reaches = [] }: RecordedRequest): void {
    const { system, tools, settings, messages } = takenApart(format, body);
    let texts = textsOf(messages, messagesMax);
    let digests = texts.map(digestOf);
    const before = longestStart(this.#conversations, digests);
    const full = this.#bytes >= this.#bytesMax;
    const ownLines = full ? Math.min(before.length, messagesMax) : messagesMax;
    if (full && before.length < texts.length) {
      texts = textsOf(messages, ownLines);
      digests = texts.map(digestOf);
    }
    this.#write({
      event: "model-request",
      by: "program",
      call,
      provider,
      model,
      messages: digests.length,
      sameAs: before.length === 0 ? null : { call: before.call, messages: before.length },
      system: system.length === 0 ? null : this.#system(call, system.length === 1 ? system[0]! : system),
      tools: tools === undefined ? null : this.#once(call, "tools", tools),
      settings: this.#once(call, "settings", settings),
      ...this.#newNames("dropped", dropped),
      ...this.#newNames("reaches", reaches),
    });
    for (let place = before.length; place < texts.length; place++) {
      const part: RequestPartEvent["part"] = place < ownLines ? "message" : "more-messages";
      const role = part === "message" ? roleOf(messages[place]!) : null;
      const digest = digests[place]!;
      const text = this.#text(texts[place]!, digest);
      this.#write({ event: "request-part", by: "program", call, part, place, role, digest, ...text });
    }
    // the list of all new messages is no message of a later request
    this.#remember({ call, digests: full ? digests.slice(0, before.length) : digests }, before);
  }

  /** Those that no earlier request of the attempt has recorded. */
  #newNames(kind: "dropped" | "reaches", names: readonly string[]) {
    const recorded = this.#recorded[kind];
    const found = names.filter((name) => !recorded.has(name)).slice(0, namesMax - recorded.size);
    for (const name of found) recorded.add(name);
    return found.length > 0 && { [kind]: found };
  }

  /** A request that extends a conversation takes its place. */
  #remember(conversation: Conversation, before: { call: number; length: number }): void {
    const others = this.#conversations.filter(
      (one) => one.call !== before.call || before.length < one.digests.length,
    );
    this.#conversations = [conversation, ...others].slice(0, conversationsMax);
  }

  /** A CLI may change one block at every request and leave the long ones as they are. */
  #system(call: number, system: Json): string | string[] {
    return Array.isArray(system) && system.length <= blocksMax
      ? system.map((block) => this.#once(call, "system", block))
      : this.#once(call, "system", system);
  }

  /** Digest of the part; writes the part unless an earlier request had it. */
  #once(call: number, part: "system" | "tools" | "settings", value: Json): string {
    const json = serialized(value);
    const digest = digestOf(json);
    if (!this.#named.has(digest)) {
      this.#named.add(digest);
      const text = this.#text(json, digest);
      const facts = { event: "request-part", by: "program", call, part, place: null, role: null } as const;
      this.#write({ ...facts, digest, ...text });
    }
    return digest;
  }

  /** Counts the line, and the text if it is written. */
  #text(json: string, digest: string): { text: LongText; again?: true } {
    const length = Buffer.byteLength(json);
    const left = { head: "", digest, bytes: length };
    this.#bytes += lineBytes;
    if (this.#written.has(digest)) {
      const attached = json.length > inlineMax; // the attachments hold it once
      if (length > repeatedMax && !attached) return { text: left, again: true };
      this.#bytes += attached ? headBytes : length;
      return { text: json };
    }
    if (this.#bytes + length > this.#bytesMax) return { text: left };
    this.#bytes += length;
    this.#written.add(digest);
    return { text: json };
  }
}

type TakenApart = {
  system: Json[];
  tools: Json | undefined;
  settings: Record<string, Json>;
  messages: Json[];
};

function takenApart(format: CallFormat, body: Record<string, Json>): TakenApart {
  const { system: systemNames, messages: messagesName } = fieldsOf[format];
  const { tools, [messagesName]: given, ...rest } = body;
  const settings: Record<string, Json> = {};
  const system: Json[] = [];
  for (const [name, value] of Object.entries(rest))
    if (systemNames.includes(name)) system.push(value);
    else settings[name] = value;
  const messages = given === undefined ? [] : Array.isArray(given) ? given : [given];
  return { system, tools, settings, messages };
}

/** One text for each of the first `linesMax` messages, and one for the list of the rest. */
function textsOf(messages: Json[], linesMax: number): string[] {
  const texts = messages.slice(0, linesMax).map(serialized);
  if (messages.length > linesMax) texts.push(serialized(messages.slice(linesMax)));
  return texts;
}

function longestStart(conversations: Conversation[], digests: string[]) {
  let longest = { call: 0, length: 0 };
  for (const { call, digests: other } of conversations) {
    let length = 0;
    while (length < digests.length && digests[length] === other[length]) length++;
    if (length > longest.length) longest = { call, length };
  }
  return longest;
}

/** Without marks of a provider's cache: they move from message to message and mean nothing to a reader. */
function serialized(value: Json): string {
  try {
    return JSON.stringify(value, (key, one: Json) => (key === "cache_control" ? undefined : one)) ?? "null";
  } catch {
    return '"nested too deeply to be recorded"';
  }
}

const digestOf = (text: string) => hash("sha256", text);

function roleOf(message: Json): string | null {
  if (!isTable(message)) return null;
  const role = message.role ?? message.type;
  return typeof role === "string" ? role.slice(0, 40) : null;
}
