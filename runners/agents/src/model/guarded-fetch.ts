// fetch for model calls, with the checks that the AI SDK leaves to the transport. Each part of an answer has a time
// limit and the whole answer has none, since a model may think for long. An endless body is cut. A redirect is not followed, since
// the key would go with it. A body that is no stream of events is not read as one.
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

export type GuardedFetch = {
  fetch: typeof fetch;
  /** Why the last request was given up: the SDK's own error says less. */
  trouble(): TransportTrouble | undefined;
};

export function guardedFetch(limits: Limits): GuardedFetch {
  let trouble: TransportTrouble | undefined;
  const guarded: typeof fetch = (input, init) =>
    new GuardedRequest(limits, (found) => {
      trouble ??= found;
    }).send(input, init);
  return { fetch: guarded, trouble: () => trouble };
}

class GuardedRequest {
  readonly #limits: Limits;
  readonly #report: (trouble: TransportTrouble) => void;
  readonly #giveUp = new AbortController();
  /** Stops the clock. */
  #rest = () => {};

  constructor(limits: Limits, report: (trouble: TransportTrouble) => void) {
    this.#limits = limits;
    this.#report = report;
  }

  async send(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    const signal = init?.signal ? AbortSignal.any([init.signal, this.#giveUp.signal]) : this.#giveUp.signal;
    this.#listen();
    try {
      const response = await modelFetch(input, { ...init, signal, redirect: "manual" });
      if (response.status >= 300 && response.status < 400) {
        const to = response.headers.get("location") ?? "nowhere";
        throw this.#fail("MLRB_REDIRECT", `${response.status}: redirect to ${to}`);
      }
      if (response.body === null) {
        this.#rest();
        return response;
      }
      signal.addEventListener("abort", () => this.#rest(), { once: true });
      const { status, statusText, headers } = response;
      const body = response.body.pipeThrough(this.#checked(response, signal));
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      this.#rest();
      throw error;
    }
  }

  /** Passes the body on while it stays within the limits. */
  #checked({ ok, headers }: Response, signal: AbortSignal): TransformStream<Uint8Array, Uint8Array> {
    const { bodyBytesMax, stream: wanted } = this.#limits;
    const words = new TextDecoder();
    const blocks = wanted === "events" && ok ? streamBlocks() : undefined;
    let bytes = 0;
    /** The body so far, until it is known to be a stream. */
    let begin: string | undefined = wanted && ok ? "" : undefined;
    const noStream = (text: string) => {
      const type = headers.get("content-type") ?? "no content type";
      const complaint = at(parsedJson(text), "error") === undefined ? undefined : text;
      return this.#fail("MLRB_NO_STREAM", `no stream of events, but ${type}: ${firstBytes(text)}`, complaint);
    };
    return new TransformStream<Uint8Array, Uint8Array>({
      transform: (part, controller) => {
        bytes += part.byteLength;
        const tooLarge = (words: string) => controller.error(this.#fail("MLRB_OVERSIZE", words));
        if (bytes > bodyBytesMax) return tooLarge(`an answer of more than ${bodyBytesMax} bytes`);
        try {
          const got = blocks?.take(Buffer.from(part));
          for (const block of got ?? []) controller.enqueue(this.#read(block, signal));
          if (!got) controller.enqueue(part);
        } catch (error) {
          return tooLarge((error as Error).message);
        }
        // the body of an error must come whole before the clock rings
        if (!blocks && ok) this.#hear(signal);
        if (begin === undefined) return;
        begin += words.decode(part, { stream: true });
        const stream = wanted === "frames" ? beginsAsFrame(begin) : beginsAsStream(begin);
        if (stream === true) begin = undefined;
        // a complaint usually comes in one piece and is worth waiting for
        else if (stream === false && begin.length >= noStreamCharacters) controller.error(noStream(begin));
      },
      flush: (controller) => {
        const last = blocks?.end();
        if (last) controller.enqueue(this.#read(last, signal));
        this.#rest();
        if (begin !== undefined && begin.trim() !== "") controller.error(noStream(begin));
      },
      cancel: () => this.#rest(),
    });
  }

  /** The bytes of one event to pass on. */
  #read({ bytes, data }: StreamBlock, signal: AbortSignal): Uint8Array {
    const event = parsedJson(data);
    if (event === undefined) return bytes;
    this.#limits.take?.(event, data);
    const own = ownChoices(event);
    if (carriesContent(own)) this.#hear(signal);
    return own === event ? bytes : Buffer.from(`data: ${JSON.stringify(own)}\n\n`);
  }

  #hear(signal: AbortSignal): void {
    this.#limits.heard?.();
    if (!signal.aborted) this.#listen();
  }

  /** Restarts the clock. */
  #listen(): void {
    const { idleMs, later = onTheClock } = this.#limits;
    this.#rest();
    this.#rest = later(
      () => this.#fail("MLRB_IDLE", `no part of an answer came for ${idleMs / 1000} s`),
      idleMs,
    );
  }

  #fail(code: TransportTrouble["code"], message: string, body?: string): TransportTrouble {
    const trouble = new TransportTrouble(code, message, body);
    this.#report(trouble);
    this.#giveUp.abort(trouble);
    return trouble;
  }
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
