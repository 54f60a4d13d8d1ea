// Counts the time for which everything in a sandbox stood still: by that, and by nothing else, a wait moves the
// deadline. Waits that overlap are one: the first freezes, the last thaws. The end of the attempt freezes for good,
// so that a wait which ends after it thaws nothing.
import type { Sandbox } from "@mlrb/core/ports/sandbox";

export type FrozenTime = {
  /** Runs `wait` with everything frozen. Rejects as it does. */
  during<T>(wait: () => Promise<T>): Promise<T>;
  /** In all up to now, the wait that goes on included. */
  frozenMs(): number;
  /** Freezes for good, and stops counting. False where something still runs. */
  stop(): Promise<boolean>;
};

/** `now`: monotonic, ms. */
export function frozenTime(sandbox: Pick<Sandbox, "freeze" | "thaw">, now: () => number): FrozenTime {
  let wanted = 0;
  let over = false;
  let frozen = false;
  let since: number | undefined;
  let total = 0;
  let turn: Promise<void> = Promise.resolve();

  /** Brings the sandbox into the state that is wanted by then, one change at a time. */
  const settle = () => {
    const next = turn.then(async () => {
      if (wanted > 0 && !frozen) {
        frozen = await sandbox.freeze();
        if (frozen && !over) since = now();
      } else if (wanted === 0 && frozen) {
        const stood = since === undefined ? 0 : now() - since;
        since = undefined;
        frozen = false;
        if (await sandbox.thaw()) total += stood;
      }
    });
    turn = next.catch(() => {}); // told to whoever asked for it
    return next;
  };

  return {
    async during(wait) {
      wanted++;
      const freezing = settle();
      freezing.catch(() => {}); // awaited below
      try {
        return await wait();
      } finally {
        wanted--;
        await freezing;
        await settle();
      }
    },
    frozenMs: () => total + (since === undefined ? 0 : now() - since),
    async stop() {
      wanted++;
      over = true;
      if (since !== undefined) total += now() - since;
      since = undefined;
      await settle();
      return frozen;
    },
  };
}
