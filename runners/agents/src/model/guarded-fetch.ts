// fetch for model calls: what the AI SDK leaves to the transport. A connection on which nothing comes is given up,
// each read having its own limit and the whole having none, since an answer may think for long; an endless body is
// cut; a redirect is not followed, for the key would go with it.

/** Codes for the table of causes. */
export class TransportTrouble extends Error {
  readonly code: "MLRB_IDLE" | "MLRB_OVERSIZE" | "MLRB_REDIRECT";

  constructor(code: TransportTrouble["code"], message: string) {
    super(message);
    this.code = code;
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
  /** The clock: runs `then` after `ms` unless what it gives is called before. */
  later?: (then: () => void, ms: number) => () => void;
};

const onTheClock = (then: () => void, ms: number) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

export function guardedFetch({ idleMs, bodyBytesMax, later = onTheClock }: Limits): GuardedFetch {
  let trouble: TransportTrouble | undefined;
  const guarded = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
    const giveUp = new AbortController();
    const fail = (code: TransportTrouble["code"], message: string) => {
      trouble ??= new TransportTrouble(code, message);
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
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform(part, controller) {
          rest();
          bytes += part.byteLength;
          if (bytes > bodyBytesMax) {
            controller.error(fail("MLRB_OVERSIZE", `an answer of more than ${bodyBytesMax} bytes`));
            return;
          }
          if (!signal.aborted) listen();
          controller.enqueue(part);
        },
        flush: () => rest(),
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
