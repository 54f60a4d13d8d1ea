// A provider's answer of status 200, read piece by piece: the events of a stream, or a whole body. Its beginning
// is read before any of it is passed to the program. Some providers and proxies report a bad key, missing money or
// an unknown model only there; such a call is held like one refused by its status.
import type { IncomingMessage } from "node:http";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { carriesContent } from "../model/event-content.ts";
import { at } from "../model/json-text.ts";
import { beginsAsStream } from "../model/stream-begin.ts";
import { type StreamBlock, streamBlocks } from "../model/stream-blocks.ts";
import { type AnswerTextReader, readAnswer } from "./answer/read-answer.ts";
import type { CallFormat } from "./route-request.ts";

/** `value`: its JSON; undefined if it is none. */
export type AnswerPiece = { bytes: Buffer; value: Json | undefined; stream: boolean };

export type AnswerOptions = {
  format: CallFormat;
  /** Whether the answer must be a stream of events. */
  events: boolean;
  /** Called with each part of an answer. */
  heard(): void;
};

/** Bytes of one answer. */
const answerMax = 64 << 20;
/** A complaint comes at once; a program must not wait long for the headers of a slow answer. */
const lookMs = 5000;
/** Also what is read of a body that should be a stream and is none: it may hold a complaint. */
const lookBytes = 64 << 10;

export class ProviderAnswer {
  readonly message: IncomingMessage;
  readonly events: boolean;
  /** Has read all pieces that were taken. */
  readonly reader: AnswerTextReader;
  readonly #rest: AsyncGenerator<AnswerPiece>;
  readonly #begin: AnswerPiece[] = [];
  #next: Promise<IteratorResult<AnswerPiece>>;

  constructor(message: IncomingMessage, { format, events, heard }: AnswerOptions) {
    this.message = message;
    this.events = events;
    this.reader = readAnswer(format);
    this.#rest = piecesOf(message, { reader: this.reader, events, heard });
    this.#next = this.#rest.next();
  }

  /** The provider's error in place of an answer, and the usage that was counted by then. Never rejects. */
  async complaint(): Promise<{ complaint: Json; usage: ModelUsage | null } | undefined> {
    const late = Promise.withResolvers<undefined>();
    using _timer = setTimeout(() => late.resolve(undefined), lookMs);
    try {
      for (let size = 0; size < lookBytes; ) {
        const got = await Promise.race([this.#next, late.promise]);
        if (!got || got.done) return undefined;
        const { bytes, value } = got.value;
        this.#begin.push(got.value);
        size += bytes.length;
        this.#next = this.#rest.next();
        this.#next.catch(() => {}); // whoever reads all pieces gets it
        const { complaint, text, reasoning, toolCalls, usage, whole } = this.reader.heard();
        if (text !== "" || reasoning !== null || toolCalls.length > 0) return undefined;
        if (complaint !== null) return { complaint, usage };
        if (value !== undefined && at(value, "error")) return { complaint: value, usage }; // of a proxy
        if (whole) return undefined;
      }
    } catch {
      // the answer broke off or is no readable stream: whoever reads all pieces finds the same
    }
    return undefined;
  }

  /** All of them, also those of the beginning. Throws if the answer breaks off or is too long. */
  async *pieces(): AsyncGenerator<AnswerPiece> {
    yield* this.#begin;
    for (let got = await this.#next; !got.done; got = await this.#rest.next()) yield got.value;
  }
}

async function* piecesOf(
  message: IncomingMessage,
  { reader, events, heard }: Omit<AnswerOptions, "format"> & { reader: AnswerTextReader },
): AsyncGenerator<AnswerPiece> {
  const blocks = streamBlocks();
  const held: Buffer[] = [];
  let size = 0;
  let begin = "";
  let stream: boolean | "undecided" = "undecided";
  const piece = ({ bytes, data }: StreamBlock): AnswerPiece => {
    const value = reader.take(data);
    if (value !== undefined && carriesContent(value)) heard();
    return { bytes, value, stream: true };
  };
  for await (const part of message as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > answerMax) throw new Error(`an answer of more than ${answerMax} bytes`);
    held.push(part);
    if (stream === "undecided") {
      begin = (begin + part.toString("latin1")).trimStart(); // empty lines that keep a connection open
      stream = beginsAsStream(begin);
    }
    if (stream === true) for (const bytes of held.splice(0)) yield* blocks.take(bytes).map(piece);
    if (stream === false && !/^\s*$/u.test(part.toString("latin1"))) heard(); // blanks keep a connection open
    if (stream === false && events && size > lookBytes) break;
  }
  if (stream === true) {
    const last = blocks.end();
    if (last) yield piece(last);
    return;
  }
  const bytes = Buffer.concat(held);
  yield { bytes, value: reader.take(bytes.toString("utf8")), stream: false };
}
