// What an attempt has used of its budget, while it runs: the one clock, the one purse. Types; attempt-meter.ts is
// the one that is used.
import type { ModelUsage, WaitReason } from "@mlrb/core/trajectory-event";
import type { ModelSpending } from "@mlrb/kit/rules/ledger";

export type BudgetLimits = {
  /** Working time. */
  timeMs: number;
  /** Input and output of all model calls. */
  tokens?: number;
  dollars?: number;
};

export type Spending = ModelSpending & {
  /** null as soon as one call had no known price. */
  dollars: number | null;
  waitedMs: Partial<Record<WaitReason, number>>;
};

export type OverBudget = { limit: "time" | "tokens" | "dollars"; detail: string };

export type Meter = {
  /** Of working time; monotonic. */
  leftMs(): number;
  /** Wall clock, ms since the epoch; later after each wait. */
  deadline(): number;
  /** Share of the budget that is used, 0 to 1, of whichever of its parts is used most. */
  usedShare(): number;
  /** Runs what is nobody's work: the deadline moves by it. */
  waiting<T>(why: WaitReason, wait: () => Promise<T>): Promise<T>;
  /** The same for what turned out to be nobody's work: a try that failed. Up to now, since so many ms ago. */
  waited?(why: WaitReason, ms: number): void;
  /** On disk before it returns. `answered` is false for a failed try. */
  charge(spent: { usage: ModelUsage | null; dollars: number | null; answered: boolean }): void;
  over(): OverBudget | undefined;
  spending(): Spending;
};
