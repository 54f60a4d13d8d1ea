// Waits for an agent's program until it ends or its time is over, and looks at its workspace regularly.
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult } from "@mlrb/core/ports/sandbox";
import { pollGently } from "@mlrb/kit/processes/poll-gently";
import type { OverBudgetEnding } from "../gateway/program-gateway.ts";
import type { ScaffoldEnd } from "../scaffold/scaffold.ts";

export type Ending =
  | ExecResult
  | { kind: "time-limit" }
  | OverBudgetEnding
  /** Our loop around a model ended by itself. */
  | { kind: "scaffold"; end: ScaffoldEnd };

export type Watch = {
  /**
   * Working time, by a monotonic clock: setting the machine's clock gives an agent no more of it. It may stop, and
   * grows only if a person adds some.
   */
  leftMs(): number;
  /** All of it, with what is used. */
  budgetMs(): number;
  /** Minimum time between two looks. */
  pollMs: number;
  look(): Promise<void>;
  /** Called when each share of the budget is used up. */
  used(share: number): void;
};

const shares = [0.25, 0.5, 0.75];

/**
 * Resolves with how the program ended, or that its time is over. A look may still be in progress. Throws what a
 * look throws.
 */
export async function watchProgram(running: Promise<Ending>, watch: Watch): Promise<Ending> {
  const { leftMs, pollMs, budgetMs } = watch;
  const isUsed = (share: number) => leftMs() <= budgetMs() * (1 - share);
  let usedUp = shares.filter(isUsed).length; // told before a restart
  const tellUsed = () => {
    while (usedUp < shares.length && isUsed(shares[usedUp]!)) watch.used(shares[usedUp++]!);
  };
  const look = () => {
    tellUsed();
    return watch.look();
  };
  const over = new AbortController();
  // independent of the looks: copying a large submission delays neither the end nor the limit
  const end = Promise.race([running, deadline(leftMs, over.signal)]);
  const polling = pollGently(look, { pauseMs: pollMs, signal: over.signal });
  try {
    return await Promise.race([end, polling.then(() => end)]);
  } finally {
    over.abort();
    tellUsed(); // shares used since the last look, which may be long ago on a busy machine or during a large copy
  }
}

/** Timers of more than 24 days fire at once, so long budgets are waited for in pieces. */
async function deadline(leftMs: () => number, signal: AbortSignal): Promise<Ending> {
  while (leftMs() > 0 && !signal.aborted) {
    await sleep(Math.min(Math.ceil(leftMs()), 3_600_000), undefined, { signal }).catch(() => {});
  }
  return { kind: "time-limit" };
}
