// Waits for an agent's program, looking in on it now and then, until it ends or its time is over.
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult } from "@mlrb/core/ports/sandbox";
import type { OverBudgetEnding } from "../gateway/program-gateway.ts";
import type { ScaffoldEnd } from "../scaffold/scaffold.ts";

export type Ending =
  | ExecResult
  | { kind: "time-limit" }
  | OverBudgetEnding
  /** Our loop around a model ended by itself. */
  | { kind: "scaffold"; end: ScaffoldEnd };

export type Watch = {
  /** Of working time, by a monotonic clock: setting the machine's time gives nobody more of it. It may grow by nothing, and stand still. */
  leftMs(): number;
  /** Least time between two looks. */
  pollMs: number;
  look(): Promise<void>;
  /** Called as each share of the budget is used up. */
  used(share: number): void;
};

const shares = [0.25, 0.5, 0.75];

/** How the program ended, or that its time is over. A look may still be going on then. Throws what a look throws. */
export async function watchProgram(running: Promise<Ending>, watch: Watch): Promise<Ending> {
  const { leftMs, pollMs } = watch;
  const budget = leftMs();
  let told = 0;
  let pause = pollMs;
  const over = new AbortController();
  // watched apart from the looks: copying a large submission moves neither the end nor the limit
  const end = Promise.race([running, deadline(leftMs, over.signal)]);
  const tell = () => {
    while (told < shares.length && leftMs() <= budget * (1 - shares[told]!)) watch.used(shares[told++]!);
  };
  try {
    for (;;) {
      const ended = await Promise.race([end, sleep(pause, undefined, { ref: false })]);
      if (ended) return ended;
      tell();
      const before = performance.now();
      const looking = watch.look();
      looking.catch(() => {}); // awaited by the caller too, when the end comes first
      const meanwhile = await Promise.race([end, looking.then(() => undefined)]);
      if (meanwhile) return meanwhile;
      // looking costs the agent its disk and its core: at most a tenth of the time
      pause = Math.max(pollMs, 9 * (performance.now() - before));
    }
  } finally {
    over.abort();
    tell(); // what went by since the last look, which a busy machine or a large copy makes long
  }
}

/** Timers of more than 24 days fire at once, so long budgets are waited for in pieces. */
async function deadline(leftMs: () => number, signal: AbortSignal): Promise<Ending> {
  while (leftMs() > 0 && !signal.aborted) {
    await sleep(Math.min(Math.ceil(leftMs()), 3_600_000), undefined, { signal }).catch(() => {});
  }
  return { kind: "time-limit" };
}
