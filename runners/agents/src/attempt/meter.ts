// What an attempt has used of its budget, while it runs: the one clock, the one purse. Types; attempt-meter.ts is
// the one that is used.

import type { EstimatedSpending, ModelSpending } from "@mlrb/formats/attempt/ledger";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";
import type { CallCharge } from "../model/call-charge.ts";

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
  estimated: EstimatedSpending;
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
  /** Waits with everything in the sandbox frozen: the deadline moves by the time for which it was. */
  waiting<T>(why: WaitReason, wait: () => Promise<T>): Promise<T>;
  /** Records a wait of so many ms that is over, e.g. a try that failed. Nothing was frozen for it, so it moves nothing. */
  waited?(why: WaitReason, ms: number): void;
  /**
   * Books a call that begins, by the most that it can take. undefined: beside the calls that go on it could pass a
   * limit, so one of them must end first, one of another attempt's where the limit is the run's cap. Call `over` before, and what it returns when
   * the call is charged.
   */
  hold(most: { tokens: number; dollars: number | null }): (() => void) | undefined;
  /** On disk before it returns. `answered` is false for a failed try. */
  charge(spent: CallCharge): void;
  /** By what is known and, where that is missing, by upper estimates. */
  over(): OverBudget | undefined;
  /**
   * Why a call that can cost so much at most may not be sent for the sake of the run's cap: it is used up, or nobody
   * knows what the call costs (null). undefined: it may. That is the operator's limit, not the agent's.
   */
  overCap(most: number | null): string | undefined;
  spending(): Spending;
};
