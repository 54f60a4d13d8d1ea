// A provider's rate limit costs an agent no working time. The gateway holds the 429 back as long as the provider
// asks, with everything in the sandbox frozen, and passes it on with the rest of the wait: otherwise the program
// would wait a second time. It does not hold while another call of the program is answered, nor longer than a
// client is patient, nor in all for more than half of the attempt's time: a program that retries without end must
// come to its end.
import type { Meter } from "../attempt/meter.ts";

/** If the provider does not say how long. */
const unsaidMs = 10_000;
/** Clients give up after minutes, by a clock that goes on while they are frozen. */
const onceMs = 60_000;

export function rateLimitWait(meter: Pick<Meter, "waiting" | "leftMs">) {
  let leftMs = meter.leftMs() / 2;
  let end: (() => void) | undefined;
  return {
    /**
     * `others`: calls of the program that are still being answered. Calls `answer` once, with the ms waited, while
     * everything is still frozen, so the answer is there when the program runs again. Resolves once the sandbox
     * runs and the wait is recorded; rejects if it cannot be recorded.
     */
    async hold(
      { retryAfterMs, others }: { retryAfterMs: number | null; others: number },
      answer: (waitedMs: number) => void,
    ): Promise<void> {
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
    /** The program sends another request, or the attempt is over. */
    asked: () => end?.(),
  };
}

/** The headers and body of a 429 that was held back, with shorter waits. */
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
  // Google's delay is in the body
  const delay = /("retryDelay"\s*:\s*")(\d+(?:\.\d+)?)s"/g;
  return {
    headers: left,
    body: body.replace(delay, (_, before: string, said: string) => `${before}${seconds(said).toFixed(3)}s"`),
  };
}
