// Repeats a look at a running program. A look takes the program's disk and core, so looks get at most a tenth of
// the time.
import { setTimeout as sleep } from "node:timers/promises";

/** Pauses for `pauseMs` or longer before each look. Resolves once `signal` is aborted; rejects as a look does. */
export async function pollGently(
  look: () => Promise<void>,
  { pauseMs, signal }: { pauseMs: number; signal: AbortSignal },
): Promise<void> {
  for (let pause = pauseMs; ; ) {
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    const begun = performance.now();
    await look();
    pause = Math.max(pauseMs, 9 * (performance.now() - begun));
  }
}
