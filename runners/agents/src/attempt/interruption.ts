// The end of an attempt that is nobody's doing inside it: its supervisor was told to end, a provider or the machine
// failed it. What there is then is sealed, and never measured.

/** The signal by which the harness itself was told to end. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`the harness was sent ${signal}`);
  }
}

/** How long a program's end may precede the signal that was sent to the harness in the same moment. */
export const sameMomentMs = 100;

/** By the clock that a test can drive. Keeps no process alive. */
export function after(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

/** Rejects with the signal's reason so many ms after it was aborted; never settles otherwise. */
export function overdue(signal: AbortSignal | undefined, ms: number): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => void after(ms).then(() => reject(signal!.reason));
  if (signal?.aborted) late();
  else signal?.addEventListener("abort", late, { once: true });
  promise.catch(() => {}); // it may come when nobody waits any more
  return promise;
}
