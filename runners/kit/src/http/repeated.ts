// Repeats a request that may succeed at the next try, and limits the time of one.
import { setTimeout as sleep } from "node:timers/promises";
import { HttpTrouble, type TroubleKind, troubleOf } from "./http-trouble.ts";

export type Tries = {
  /** With the first. */
  tries: number;
  /** Before try `next`, after `trouble`. */
  pauseMs(next: number, trouble: HttpTrouble): number;
  signal: AbortSignal;
};

/** Throws HttpTrouble, or what is no trouble of the server. `signal` aborts at once. */
export async function repeated<T>(
  request: () => Promise<T>,
  { tries, pauseMs, signal, passing = ["failing"] }: Tries & { passing?: TroubleKind[] },
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      const trouble = troubleOf(error);
      if (!passing.includes(trouble.kind) || tried >= tries) throw trouble;
      await sleep(pauseMs(tried + 1, trouble), undefined, { signal });
    }
  }
}

/** A connection that ends because its time is over can show any error. */
export async function inTime<T>(
  request: (signal: AbortSignal) => Promise<T>,
  { signal, limitMs }: { signal: AbortSignal; limitMs: number },
): Promise<T> {
  if (!Number.isFinite(limitMs)) return request(signal);
  const time = AbortSignal.timeout(limitMs);
  try {
    return await request(AbortSignal.any([signal, time]));
  } catch (error) {
    throw time.aborted ? new HttpTrouble("silent", "it did not answer in time") : error;
  }
}
