// Passes a provider's answer to the program while it arrives. The answer is read to its end even if the program
// goes away or never reads it: it is paid for.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "@mlrb/kit/stage";
import { at, listAt } from "../model/json-text.ts";
import { firstBytes } from "../model/stream-begin.ts";
import { shownHeaders } from "./call-provider.ts";
import type { ProviderAnswer } from "./provider-answer.ts";

export type PassOptions = {
  hideUsage: boolean;
  /** Gets every part that is sent to the program, also after it has gone away. */
  keep?: (bytes: Buffer) => void;
  /** The real key: it is removed from the provider's text. */
  key: string | undefined;
};

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
  { hideUsage, keep, key }: PassOptions,
): Promise<void> {
  const { statusCode = 200, headers } = answer.message;
  for await (const { bytes, value, stream } of answer.pieces()) {
    const shown = withoutKey(bytes, key);
    if (!stream && (answer.events || value === undefined)) {
      const type = headers["content-type"] ?? "no content type";
      throw new NoAnswer(answer.events ? "no-stream" : "garbage", type, shown.toString("utf8"));
    }
    if (!response.headersSent) response.writeHead(statusCode, shownHeaders(headers));
    if (hideUsage && isUsageAlone(value)) continue;
    keep?.(shown);
    await give(response, shown);
  }
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

/** Resolves once the program has room for more, or is gone. */
async function give(response: ServerResponse, bytes: Buffer): Promise<void> {
  if (response.destroyed || response.write(bytes)) return;
  const given = new AbortController();
  const timer = setTimeout(() => response.destroy(), unreadMs);
  const ends = ["drain", "close"].map((event) => once(response, event, { signal: given.signal }));
  await Promise.race(ends).catch(() => {});
  given.abort();
  clearTimeout(timer);
}
