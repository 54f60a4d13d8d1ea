// fetch for model calls, with the checks that the AI SDK leaves to the transport. Each part of an answer has a
// time limit and the whole answer has none, since a model may think for long. An endless body is cut. A redirect
// is not followed, since the key would go with it. A body that is no stream of events is not read as one.
import type { Json } from "@mlrb/kit/stage";
import { carriesContent } from "./event-content.ts";
import { at, listAt, parsedJson } from "./json-text.ts";
import { modelFetch } from "./model-route.ts";
import { beginsAsFrame, beginsAsStream, firstBytes } from "./stream-begin.ts";
import { type StreamBlock, streamBlocks } from "./stream-blocks.ts";

/** Codes for the table of causes. */
export class TransportTrouble extends Error {
  readonly code: "MLRB_IDLE" | "MLRB_OVERSIZE" | "MLRB_REDIRECT" | "MLRB_NO_STREAM";
  /** The body in place of a stream, if it holds a complaint. */
  readonly responseBody?: string;

  constructor(code: TransportTrouble["code"], message: string, responseBody?: string) {
    super(message);
    this.code = code;
    if (responseBody !== undefined) this.responseBody = responseBody;
  }
}

type Limits = {
  /** How long no part of an answer may come, ms. */
  idleMs: number;
  bodyBytesMax: number;
  /** The kind of stream that the answer must be; absent: any body. */
  stream?: "events" | "frames";
  /** Called with each part of an answer. */
  heard?: () => void;
  /** Gets the JSON of each event of a stream, with its text. */
  take?: (event: Json, text: string) => void;
  /** Calls `then` after `ms` unless the returned function was called before. */
  later?: (then: () => void, ms: number) => () => void;
};

/** Characters that are read of a body that is no stream: enough to quote, or to hold a complaint. */
const noStreamCharacters = 4096;

const onTheClock = (then: () => void, ms: number) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

/** `trouble`: why the last request was given up: the SDK's own error says less. */
export function guardedFetch(limits: Limits) {
  let trouble: TransportTrouble | undefined;
  const guarded: typeof fetch = async (input, init) => {
    const giveUp = new AbortController();
    const signal = init?.signal ? AbortSignal.any([init.signal, giveUp.signal]) : giveUp.signal;
    const fail: Watch["fail"] = (code, message, body) => {
      const found = new TransportTrouble(code, message, body);
      trouble ??= found;
      giveUp.abort(found);
      return found;
    };
    const watch = watched(limits, { signal, fail });
    try {
      const response = await modelFetch(input, { ...init, signal, redirect: "manual" });
      const { status, statusText, headers, body } = response;
      if (status >= 300 && status < 400)
        throw fail("MLRB_REDIRECT", `${status}: redirect to ${headers.get("location") ?? "nowhere"}`);
      if (body === null) {
        watch.rest();
        return response;
      }
      signal.addEventListener("abort", watch.rest, { once: true });
      return new Response(body.pipeThrough(checked(response, limits, watch)), {
        status,
        statusText,
        headers,
      });
    } catch (error) {
      watch.rest();
      throw error;
    }
  };
  return { fetch: guarded, trouble: () => trouble };
}

type Watch = {
  fail(code: TransportTrouble["code"], message: string, body?: string): TransportTrouble;
  /** A part of the answer came: restarts the clock. */
  hear(): void;
  /** Stops the clock. */
  rest(): void;
};

/** Starts the clock. */
function watched(
  { idleMs, later = onTheClock, heard }: Limits,
  { signal, fail }: Pick<Watch, "fail"> & { signal: AbortSignal },
): Watch {
  const start = () =>
    later(() => fail("MLRB_IDLE", `no part of an answer came for ${idleMs / 1000} s`), idleMs);
  let stop = start();
  return {
    fail,
    rest: () => stop(),
    hear() {
      heard?.();
      if (signal.aborted) return;
      stop();
      stop = start();
    },
  };
}

/** Passes the body on while it stays within the limits. */
function checked(
  { ok, headers }: Response,
  { bodyBytesMax, stream: wanted, take }: Limits,
  { fail, hear, rest }: Watch,
): TransformStream<Uint8Array, Uint8Array> {
  const words = new TextDecoder();
  const blocks = wanted === "events" && ok ? streamBlocks() : undefined;
  let bytes = 0;
  /** The body so far, until it is known to be a stream. */
  let begin: string | undefined = wanted && ok ? "" : undefined;
  const noStream = (text: string) => {
    const type = headers.get("content-type") ?? "no content type";
    const complaint = at(parsedJson(text), "error") === undefined ? undefined : text;
    return fail("MLRB_NO_STREAM", `no stream of events, but ${type}: ${firstBytes(text)}`, complaint);
  };
  /** The bytes of one event to pass on. */
  const read = ({ bytes, data }: StreamBlock): Uint8Array => {
    const event = parsedJson(data);
    if (event === undefined) return bytes;
    take?.(event, data);
    const own = ownChoices(event);
    if (carriesContent(own)) hear();
    return own === event ? bytes : Buffer.from(`data: ${JSON.stringify(own)}\n\n`);
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      bytes += part.byteLength;
      const tooLarge = (words: string) => controller.error(fail("MLRB_OVERSIZE", words));
      if (bytes > bodyBytesMax) return tooLarge(`an answer of more than ${bodyBytesMax} bytes`);
      try {
        const got = blocks?.take(Buffer.from(part));
        for (const block of got ?? []) controller.enqueue(read(block));
        if (!got) controller.enqueue(part);
      } catch (error) {
        return tooLarge((error as Error).message);
      }
      // the body of an error must come whole before the clock rings
      if (!blocks && ok) hear();
      if (begin === undefined) return;
      begin += words.decode(part, { stream: true });
      const stream = wanted === "frames" ? beginsAsFrame(begin) : beginsAsStream(begin);
      if (stream === true) begin = undefined;
      // a complaint usually comes in one piece and is worth waiting for
      else if (stream === false && begin.length >= noStreamCharacters) controller.error(noStream(begin));
    },
    flush(controller) {
      const last = blocks?.end();
      if (last) controller.enqueue(read(last));
      rest();
      if (begin !== undefined && begin.trim() !== "") controller.error(noStream(begin));
    },
    cancel: rest,
  });
}

/** `event` without the choices that were not asked for: the SDK would take the first one for the answer. */
function ownChoices(event: Json): Json {
  for (const name of ["choices", "candidates"]) {
    const all = listAt(event, name);
    const own = all.filter((one) => (at(one, "index") ?? 0) === 0);
    if (own.length < all.length) return { ...(event as Record<string, Json>), [name]: own };
  }
  return event;
}
