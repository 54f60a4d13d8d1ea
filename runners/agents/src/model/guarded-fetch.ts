// fetch for model calls, with the checks that the AI SDK leaves to the transport. Each read has a time limit and the
// whole answer has none, since a model may think for long. An endless body is cut. A redirect is not followed, since
// the key would go with it. A body that is no stream of events is not read as one.
import { at, parsedJson } from "./json-text.ts";
import { modelFetch } from "./model-route.ts";
import { beginsAsFrame, beginsAsStream, firstBytes } from "./stream-begin.ts";

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
  /** How long a read may take, ms. */
  idleMs: number;
  bodyBytesMax: number;
  /** The kind of stream that the answer must be; absent: any body. */
  stream?: "events" | "frames";
  /** Called with the first bytes of a body. */
  heard?: () => void;
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
  /** Stops the clock of the current read. */
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
    const { bodyBytesMax, stream: wanted, heard } = this.#limits;
    const words = new TextDecoder();
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
        this.#rest();
        if (bytes === 0) heard?.();
        bytes += part.byteLength;
        if (bytes > bodyBytesMax) {
          controller.error(this.#fail("MLRB_OVERSIZE", `an answer of more than ${bodyBytesMax} bytes`));
          return;
        }
        if (!signal.aborted) this.#listen();
        controller.enqueue(part);
        if (begin === undefined) return;
        begin += words.decode(part, { stream: true });
        const stream = wanted === "frames" ? beginsAsFrame(begin) : beginsAsStream(begin);
        if (stream === true) begin = undefined;
        // a complaint usually comes in one piece and is worth waiting for
        else if (stream === false && begin.length >= noStreamCharacters) controller.error(noStream(begin));
      },
      flush: (controller) => {
        this.#rest();
        if (begin !== undefined && begin.trim() !== "") controller.error(noStream(begin));
      },
      cancel: () => this.#rest(),
    });
  }

  /** Restarts the clock of a read. */
  #listen(): void {
    const { idleMs, later = onTheClock } = this.#limits;
    this.#rest();
    this.#rest = later(() => this.#fail("MLRB_IDLE", `no byte came for ${idleMs / 1000} s`), idleMs);
  }

  #fail(code: TransportTrouble["code"], message: string, body?: string): TransportTrouble {
    const trouble = new TransportTrouble(code, message, body);
    this.#report(trouble);
    this.#giveUp.abort(trouble);
    return trouble;
  }
}
