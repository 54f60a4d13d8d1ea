// Remembers that something has happened until the waiting side takes it: an event without a waiter is not lost,
// and a hundred events at once count as one.

export class Mailbox {
  #full = false;
  #closed = false;
  #wake: (() => void) | undefined;

  put(): void {
    this.#full = true;
    this.#wake?.();
  }

  /** Ends the current wait and all later ones. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Waits at most `limitMs` for an event since the last take; returns whether there was one. */
  async take(limitMs?: number): Promise<boolean> {
    if (!this.#full && !this.#closed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs);
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
      clearTimeout(timer);
    }
    const was = this.#full;
    this.#full = false;
    return was;
  }

  /** Waits until no event has come for `quietMs`, at most `mostMs`. */
  async quiet({ quietMs, mostMs }: { quietMs: number; mostMs: number }): Promise<void> {
    const end = performance.now() + mostMs;
    while (!this.#closed && performance.now() < end) if (!(await this.take(quietMs))) return;
  }
}
