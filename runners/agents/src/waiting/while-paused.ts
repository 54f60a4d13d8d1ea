// A person's pause of an attempt: it stops before its next model call, with everything in its sandbox frozen,
// until the person continues it. There is no limit: whoever paused it decides.
import type { Meter } from "../attempt/meter.ts";
import type { OperatorDesk } from "./operator-desk.ts";
import type { WaitBoard } from "./wait-board.ts";

export type PausePlace = {
  desk: OperatorDesk;
  board?: WaitBoard | undefined;
  meter: Pick<Meter, "waiting">;
  signal: AbortSignal;
};

/** The desk tells at once; its file may also be removed by hand. */
const lookMs = 5_000;

/** Call it if the attempt is paused. Rejects when `signal` is aborted. `id`: the waiting call's. */
export async function whilePaused(id: string, { desk, board, meter, signal }: PausePlace): Promise<void> {
  const since = new Date().toISOString();
  const wait = { why: "operator", cause: "paused", whose: "operator" } as const;
  try {
    await meter.waiting("operator", async () => {
      while (desk.paused()) {
        board?.show(id, { ...wait, detail: "by `attempts pause`", since, nextTry: null, giveUpAt: null });
        await desk.pause(lookMs, signal);
      }
    });
  } finally {
    board?.clear(id);
  }
}
