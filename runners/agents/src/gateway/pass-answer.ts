// Gives a provider's answer on to a program while it comes, and reads it on the way. What the program does with it
// changes nothing: an answer whose reader goes away, or never reads, is still heard to its end, since it is paid for.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "@mlrb/kit/stage";
import { type AnswerReader, at, listAt } from "./heard-answer.ts";
import { type StreamBlock, streamBlocks } from "./stream-blocks.ts";

export type PassOptions = {
  reader: AnswerReader;
  hideUsage: boolean;
  /** The real key: what a provider says of it is taken out. */
  key: string | undefined;
};

/** Of one answer. */
const answerMax = 64 << 20;
/** How long a program may leave what it asked for unread. */
const unreadMs = 60_000;

/** The headers are sent already. Rejects where the answer breaks off or is no answer. */
export async function passAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  { reader, hideUsage, key }: PassOptions,
): Promise<void> {
  const give = giver(response);
  const clean = (bytes: Buffer) => withoutKey(bytes, key);
  let size = 0;
  const counted = (bytes: Buffer) => {
    size += bytes.length;
    if (size > answerMax) throw new Error(`an answer of more than ${answerMax} bytes`);
  };
  if (!/^text\/event-stream/.test(answer.headers["content-type"] ?? "")) {
    const parts: Buffer[] = [];
    for await (const part of answer as AsyncIterable<Buffer>) {
      counted(part);
      parts.push(part);
    }
    const text = Buffer.concat(parts);
    const value = parsed(text.toString("utf8"));
    if (value === undefined) throw new Error("an answer that is not JSON");
    reader.take(value);
    await give(clean(text));
    return;
  }
  const blocks = streamBlocks();
  const pass = async ({ bytes, data }: StreamBlock) => {
    const value = parsed(data);
    if (value !== undefined) reader.take(value);
    if (!(hideUsage && isUsageAlone(value))) await give(clean(bytes));
  };
  for await (const part of answer as AsyncIterable<Buffer>) {
    counted(part);
    for (const block of blocks.take(part)) await pass(block);
  }
  if (blocks.rest().length > 0) await give(clean(blocks.rest()));
}

/** What the provider says of an error: bounded, and without the key. */
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

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The piece that only `include_usage` brings: clients that did not ask for it may stumble over its empty list. */
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
