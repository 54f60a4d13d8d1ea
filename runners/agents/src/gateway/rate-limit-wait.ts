// A provider's rate limit costs an agent no working time. The 429 is held back for as long as the provider asks for,
// with everything in the sandbox frozen, and then passed on with what is left of that: a program that got it before
// would wait a second time, once it runs again. Not while another of its calls is being answered, and no longer than
// a client is patient. In all at most half of the attempt's time: a program that knocks at a closed door comes to its
// end all the same.
import type { Meter } from "../attempt/meter.ts";

export type RateLimitWait = {
  /**
   * The provider said 429; `others` of the program's calls are still being answered. Calls `answer` once, with the
   * ms that were waited for it: while everything is frozen still, so that it lies there when the program looks.
   * Settles once all goes on and the wait is recorded; rejects where it cannot be.
   */
  hold(
    asked: { retryAfterMs: number | null; others: number },
    answer: (waitedMs: number) => void,
  ): Promise<void>;
  /** The program asks again, or all is over. */
  asked(): void;
};

/** Where the provider does not say how long. */
const unsaidMs = 10_000;
/** Clients give up after minutes, by a clock that runs on while they are frozen. */
const onceMs = 60_000;

export function rateLimitWait(meter: Pick<Meter, "waiting" | "leftMs">): RateLimitWait {
  let leftMs = meter.leftMs() / 2;
  let end: (() => void) | undefined;
  return {
    async hold({ retryAfterMs, others }, answer) {
      const mostMs = Math.min(retryAfterMs ?? unsaidMs, onceMs, leftMs);
      if (end || others > 0 || mostMs <= 0) return answer(0);
      const begin = performance.now();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => end?.(), mostMs);
      end = () => {
        clearTimeout(timer);
        end = undefined;
        const waitedMs = performance.now() - begin;
        leftMs -= waitedMs;
        answer(waitedMs);
        resolve();
      };
      await meter.waiting("rate-limit", () => promise);
    },
    asked: () => end?.(),
  };
}

/** The headers and the body of a 429 that was held back: what they ask for is less by then. */
export function lessWait(
  headers: Record<string, string>,
  body: string,
  waitedMs: number,
): { headers: Record<string, string>; body: string } {
  if (waitedMs === 0) return { headers, body };
  const left = { ...headers };
  const inMs = Number(left["retry-after-ms"]);
  if (left["retry-after-ms"] !== undefined && inMs >= 0)
    left["retry-after-ms"] = String(Math.max(0, Math.round(inMs - waitedMs)));
  const seconds = (said: string) => Math.max(0, Number(said) - waitedMs / 1000);
  if (/^\d+(\.\d+)?$/.test(left["retry-after"] ?? ""))
    left["retry-after"] = String(Math.ceil(seconds(left["retry-after"]!) - 0.05)); // a timer is a little early
  // Google says it in the body
  const delay = /("retryDelay"\s*:\s*")(\d+(?:\.\d+)?)s"/g;
  return {
    headers: left,
    body: body.replace(delay, (_, before: string, said: string) => `${before}${seconds(said).toFixed(3)}s"`),
  };
}
