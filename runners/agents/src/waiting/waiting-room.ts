// Waits that end with their time, or all together when something wakes them.

/** `setTimer` returns the function that cancels it. */
export function waitingRoom(setTimer: (then: () => void, ms: number) => () => void = timer) {
  const waiting = new Set<() => void>();
  return {
    /** Ends every wait; returns their number. */
    wake(): number {
      const woken = [...waiting];
      for (const resolve of woken) resolve();
      return woken.length;
    },
    /** Resolves after `ms`, or when woken; rejects when `signal` is aborted. */
    async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = () => reject(signal?.reason);
      const cancel = setTimer(resolve, ms);
      waiting.add(resolve);
      signal?.addEventListener("abort", stop, { once: true });
      try {
        await promise;
      } finally {
        cancel();
        waiting.delete(resolve);
        signal?.removeEventListener("abort", stop);
      }
    },
  };
}

function timer(then: () => void, ms: number): () => void {
  const running = setTimeout(then, ms);
  return () => clearTimeout(running);
}
