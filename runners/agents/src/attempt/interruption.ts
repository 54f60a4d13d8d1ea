// An end of an attempt that nothing inside it caused: its supervisor received a signal, or a provider or the
// machine failed. The attempt is sealed as it is, and never measured.

/** The signal that ends the harness itself. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`the harness was sent ${signal}`);
  }
}

/** How long before the harness a program may end that got the same signal. */
export const sameMomentMs = 100;

/** Uses the clock that a test can mock. Keeps no process alive. */
export function after(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

/** Rejects with the signal's reason `ms` after it is aborted; never settles otherwise. */
export function overdue(signal: AbortSignal | undefined, ms: number): Promise<never> {
  const late = interruption(signal).catch(async (reason) => {
    await after(ms);
    throw reason;
  });
  late.catch(() => {}); // it may reject after the race is over
  return late;
}

/** Rejects once the signal is aborted; never resolves. */
export function interruption(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
