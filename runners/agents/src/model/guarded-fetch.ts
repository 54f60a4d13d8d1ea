// fetch for model calls: what the AI SDK leaves to the transport. A connection on which nothing comes is given up,
// each read having its own limit and the whole having none, since an answer may think for long; an endless body is
// cut; a redirect is not followed, for the key would go with it; and what is no stream of events is not read as one.
import { beginsAsStream, firstBytes } from "./stream-begin.ts";

/** Codes for the table of causes. */
export class TransportTrouble extends Error {
  readonly code: "MLRB_IDLE" | "MLRB_OVERSIZE" | "MLRB_REDIRECT" | "MLRB_NO_STREAM";
  /** What came in place of a stream, for a complaint that may be in it. */
  readonly responseBody?: string;

  constructor(code: TransportTrouble["code"], message: string, responseBody?: string) {
    super(message);
    this.code = code;
    if (responseBody !== undefined) this.responseBody = responseBody;
  }
}

export type GuardedFetch = {
  fetch: typeof fetch;
  /** Why it gave up; what the SDK makes of it says less. */
  trouble(): TransportTrouble | undefined;
};

type Limits = {
  idleMs: number;
  bodyBytesMax: number;
  /** Whether an answer must be a stream of events. */
  events?: boolean;
  /** Called when the first bytes of a body come. */
  heard?: () => void;
  /** The clock: runs `then` after `ms` unless what it gives is called before. */
  later?: (then: () => void, ms: number) => () => void;
};

/** Of what is no stream: enough to quote, or to hold a complaint. */
const noStreamCharacters = 4096;

const onTheClock = (then: () => void, ms: number) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

export function guardedFetch({
  idleMs,
  bodyBytesMax,
  events = false,
  heard,
  later = onTheClock,
}: Limits): GuardedFetch {
  let trouble: TransportTrouble | undefined;
  const guarded = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
    const giveUp = new AbortController();
    const fail = (code: TransportTrouble["code"], message: string, body?: string) => {
      trouble ??= new TransportTrouble(code, message, body);
      giveUp.abort(trouble);
      return trouble;
    };
    let rest = () => {};
    const listen = () => {
      rest();
      rest = later(() => fail("MLRB_IDLE", `nothing came for ${idleMs / 1000} s`), idleMs);
    };
    const signal = init?.signal ? AbortSignal.any([init.signal, giveUp.signal]) : giveUp.signal;
    listen();
    try {
      const response = await fetch(input, { ...init, signal, redirect: "manual" });
      if (response.status >= 300 && response.status < 400) {
        const to = response.headers.get("location") ?? "nowhere";
        throw fail("MLRB_REDIRECT", `${response.status}: it sends on to ${to}`);
      }
      if (response.body === null) {
        rest();
        return response;
      }
      let bytes = 0;
      const type = response.headers.get("content-type") ?? "no content type";
      const noStream = (begin: string) => {
        const complaint = isComplaint(begin) ? begin : undefined;
        return fail("MLRB_NO_STREAM", `no stream of events, but ${type}: ${firstBytes(begin)}`, complaint);
      };
      /** What has come while it is not decided whether it is a stream; undefined once it is. */
      let begin: string | undefined = events && response.ok ? "" : undefined;
      const words = new TextDecoder();
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform(part, controller) {
          rest();
          if (bytes === 0) heard?.();
          bytes += part.byteLength;
          if (bytes > bodyBytesMax) {
            controller.error(fail("MLRB_OVERSIZE", `an answer of more than ${bodyBytesMax} bytes`));
            return;
          }
          if (!signal.aborted) listen();
          controller.enqueue(part);
          if (begin === undefined) return;
          begin += words.decode(part, { stream: true });
          const stream = beginsAsStream(begin);
          if (stream === true) begin = undefined;
          // a complaint comes in one piece as a rule, and is worth waiting for
          else if (stream === false && begin.length >= noStreamCharacters) controller.error(noStream(begin));
        },
        flush(controller) {
          rest();
          if (begin !== undefined && begin.trim() !== "") controller.error(noStream(begin));
        },
        cancel: () => rest(),
      });
      signal.addEventListener("abort", () => rest(), { once: true });
      const { status, statusText, headers } = response;
      const body = response.body.pipeThrough(counted);
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      rest();
      throw error;
    }
  };
  return { fetch: guarded as typeof fetch, trouble: () => trouble };
}

function isComplaint(text: string): boolean {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && "error" in read;
  } catch {
    return false;
  }
}
