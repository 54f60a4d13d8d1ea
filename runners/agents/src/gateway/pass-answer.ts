// Passes a provider's answer to the program while it arrives, and reads it on the way. The answer is read to its end
// even if the program goes away or never reads it: it is paid for.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "@mlrb/kit/stage";
import { carriesContent } from "../model/event-content.ts";
import { at, listAt } from "../model/json-text.ts";
import { beginsAsStream, firstBytes } from "../model/stream-begin.ts";
import { type StreamBlock, streamBlocks } from "../model/stream-blocks.ts";
import type { AnswerTextReader } from "./answer/read-answer.ts";
import type { ProviderAnswer } from "./answer-begin.ts";
import { shownHeaders } from "./call-provider.ts";

export type PassOptions = {
  reader: AnswerTextReader;
  hideUsage: boolean;
  /** Whether the answer must be a stream of events. */
  events: boolean;
  /** Gets every part that is sent to the program, also after it has gone away. */
  keep?: (bytes: Buffer) => void;
  /** The real key: it is removed from the provider's text. */
  key: string | undefined;
  /** Called with each part of an answer. */
  heard(): void;
};

/** Bytes of one answer. */
const answerMax = 64 << 20;
/** How long a program may leave its answer unread. */
const unreadMs = 60_000;

/** Status 200 with a body that is no answer to such a call. Nothing of it was passed on. */
export class NoAnswer extends Error {
  override readonly cause: "no-stream" | "garbage";
  /** The body: it may hold a complaint. */
  readonly responseBody: string;

  constructor(cause: NoAnswer["cause"], type: string, body: string) {
    super(`${cause === "no-stream" ? "no stream of events" : "no JSON"}, but ${type}: ${firstBytes(body)}`);
    this.cause = cause;
    this.responseBody = body;
  }
}

/** Sends the headers with the first bytes. Rejects if the answer breaks off or is none. */
export async function passAnswer(
  answer: ProviderAnswer,
  response: ServerResponse,
  { reader, hideUsage, keep, key, events, heard }: PassOptions,
): Promise<void> {
  const put = giver(response);
  const give = async (bytes: Buffer) => {
    keep?.(bytes);
    await put(bytes);
  };
  const clean = (bytes: Buffer) => withoutKey(bytes, key);
  const open = () => response.writeHead(answer.statusCode ?? 200, shownHeaders(answer.headers));
  const type = answer.headers["content-type"] ?? "no content type";
  const { parts, stream } = await opened(answer);
  if (!stream) {
    const held: Buffer[] = [];
    let size = 0;
    for await (const part of parts) {
      held.push(part);
      if (!/^\s*$/u.test(part.toString("latin1"))) heard(); // blanks keep a connection open
      size += part.length;
      if (events && size > noStreamBytes) break;
    }
    const text = Buffer.concat(held);
    if (events) throw new NoAnswer("no-stream", type, clean(text).toString("utf8"));
    if (reader.take(text.toString("utf8")) === undefined)
      throw new NoAnswer("garbage", type, clean(text).toString("utf8"));
    open();
    await give(clean(text));
    return;
  }
  open();
  const blocks = streamBlocks();
  const pass = async ({ bytes, data }: StreamBlock) => {
    const value = reader.take(data);
    if (value !== undefined && carriesContent(value)) heard();
    if (!(hideUsage && isUsageAlone(value))) await give(clean(bytes));
  };
  for await (const part of parts) for (const block of blocks.take(part)) await pass(block);
  const last = blocks.end();
  if (last) await pass(last);
}

/** Bytes that are read of a body that is no stream: enough to quote, or to hold a complaint. */
const noStreamBytes = 4096;

/** Whether the answer begins as a stream of events, and all of its bytes. Iterating throws past the limit. */
async function opened(answer: ProviderAnswer): Promise<{ parts: AsyncIterable<Buffer>; stream: boolean }> {
  const rest = answer[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let size = 0;
  const counted = (bytes: Buffer) => {
    size += bytes.length;
    if (size > answerMax) throw new Error(`an answer of more than ${answerMax} bytes`);
    return bytes;
  };
  let begins: boolean | "undecided" = "undecided";
  for (let text = ""; begins === "undecided"; begins = beginsAsStream(text)) {
    const next = await rest.next();
    if (next.done) break;
    first.push(counted(next.value));
    text = (text + next.value.toString("latin1")).trimStart(); // empty lines that keep a connection open
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield counted(next.value);
  }
  return { parts: all(), stream: begins === true };
}

/** The body of an error, 64 Ki characters at most, without the key. */
export async function errorText(answer: IncomingMessage, key: string | undefined): Promise<string> {
  let text = "";
  for await (const part of answer as AsyncIterable<Buffer>) {
    text += part.toString("utf8");
    if (text.length > 1 << 16) break;
  }
  return withoutKey(Buffer.from(text.slice(0, 1 << 16)), key).toString("utf8");
}

function withoutKey(bytes: Buffer, key: string | undefined): Buffer {
  if (!key || !bytes.includes(key)) return bytes;
  return Buffer.from(bytes.toString("utf8").replaceAll(key, "[key]"));
}

/** The event that only `include_usage` brings: a client that did not request it may fail on its empty list. */
function isUsageAlone(value: Json | undefined): boolean {
  return value !== undefined && Boolean(at(value, "usage")) && listAt(value, "choices").length === 0;
}

function giver(response: ServerResponse): (bytes: Buffer) => Promise<void> {
  return async (bytes) => {
    if (response.destroyed || response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        response.off("drain", done);
        response.off("close", done);
        resolve();
      };
      const timer = setTimeout(() => response.destroy(), unreadMs);
      response.once("drain", done);
      response.once("close", done);
    });
  };
}
