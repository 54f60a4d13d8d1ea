// A provider's rate limit costs an agent no working time, and a program that waits one out by itself is not seen to
// wait: what counts as waiting is the time from a 429 that was passed on until the program's next request, as long
// as the provider asked for and no longer, while nothing else of the program's is being answered. In all at most
// half of the attempt's time, so that nobody earns a day of training by knocking at a closed door.
import type { Meter } from "../meter.ts";

export type RateLimitWait = {
  /** The provider said 429 and the program was told; `others` of its calls are still being answered. */
  passedOn(retryAfterMs: number | null, others: number): void;
  /** The program asks again, or all is over. */
  asked(): void;
};

/** Where the provider does not say how long. */
const unsaidMs = 10_000;
const onceMs = 60_000;

export function rateLimitWait(meter: Pick<Meter, "waiting" | "leftMs">): RateLimitWait {
  let leftMs = meter.leftMs() / 2;
  let end: (() => void) | undefined;
  return {
    passedOn(retryAfterMs, others) {
      if (end || others > 0) return;
      const mostMs = Math.min(retryAfterMs ?? unsaidMs, onceMs, leftMs);
      if (mostMs <= 0) return;
      const begin = performance.now();
      void meter.waiting(
        "rate-limit",
        () =>
          new Promise<void>((resolve) => {
            const timer = setTimeout(() => end?.(), mostMs);
            end = () => {
              clearTimeout(timer);
              end = undefined;
              leftMs -= performance.now() - begin;
              resolve();
            };
          }),
      );
    },
    asked: () => end?.(),
  };
}

/** What the headers of an answer ask for; null where they say nothing. */
export function retryAfterMs(headers: Record<string, string | string[] | undefined>): number | null {
  const inMs = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (inMs >= 0) return inMs;
  const said = String(headers["retry-after"] ?? "");
  if (said === "") return null;
  if (/^\d+(\.\d+)?$/.test(said)) return Number(said) * 1000;
  const until = Date.parse(said) - Date.now();
  return Number.isNaN(until) ? null : Math.max(0, until);
}
