// Patience with a server that is away for a while: a stage or its result is worth more than the wait.
import { setTimeout as sleep } from "node:timers/promises";
import { RemoteTrouble } from "../remote/remote-trouble.ts";

/** In ms. */
const patienceMs = 10 * 60_000;
const pauseMs = 5_000;

type Patience = {
  signal: AbortSignal;
  forMs?: number;
  /** Called with each trouble: also a server that refuses or is full is waited for then, until a person repairs it. */
  waits?: (why: string) => void;
};

/** Repeats `ask` while the server does not serve. What another try does not change is thrown at once. */
export async function untilTaken<T>(
  ask: () => Promise<T>,
  { signal, forMs = patienceMs, waits }: Patience,
): Promise<T> {
  const begin = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      const mayCome =
        error instanceof RemoteTrouble &&
        (waits !== undefined || ["failing", "silent", "unreachable"].includes(error.kind));
      if (!mayCome || performance.now() - begin > forMs) throw error;
      waits?.(error.message);
    }
    await sleep(pauseMs, undefined, { signal });
  }
}
