// Holds that something has happened until whoever waits looks: what happens while nobody waits is not lost,
// and a hundred things at once are one.

export class Mailbox {
  #full = false;
  #closed = false;
  #wake: (() => void) | undefined;

  put(): void {
    this.#full = true;
    this.#wake?.();
  }

  /** Whoever waits goes on, now and from now on. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Waits for something since the last take, at most `limitMs`; whether there was. */
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

  /** Waits until nothing has happened for `quietMs`, or for `mostMs` where it never stops. */
  async quiet({ quietMs, mostMs }: { quietMs: number; mostMs: number }): Promise<void> {
    const end = performance.now() + mostMs;
    while (!this.#closed && performance.now() < end) if (!(await this.take(quietMs))) return;
  }
}
