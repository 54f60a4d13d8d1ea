// Reports what an attempt has used of its budget while it runs. Types only; attempt-meter.ts implements them.

import type { EstimatedSpending, ModelSpending } from "@mlrb/formats/attempt/ledger";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";
import type { CallCharge } from "../spending/call-charge.ts";

export type BudgetLimits = {
  /** Working time. */
  timeMs: number;
  /** Input and output of all model calls. */
  tokens?: number;
  dollars?: number;
  /** Times the machine of other attempts; absent: one. Limits nothing. */
  machines?: number;
  /** The stated price of a working hour of its machines. `dollars` counts it too. */
  machineDollarsPerHour?: number;
};

export type Spending = ModelSpending & {
  /** null once a call without a known price was made. */
  dollars: number | null;
  estimated: EstimatedSpending;
  waitedMs: Partial<Record<WaitReason, number>>;
};

export type OverBudget = { limit: "time" | "tokens" | "dollars"; detail: string };

/** A call that may be in flight, with its reservation. */
export type HeldCall = {
  /**
   * Counts the call as in flight again; call it before the call is sent again. On disk before it returns. false:
   * together with the calls in flight it could pass a limit by more than one call, so one of them must end first.
   */
  again(): boolean;
  /** Call once the call is charged, or if it will not be sent. */
  release(): void;
};

export type Meter = {
  /** Working time; monotonic. */
  leftMs(): number;
  /** Wall clock, ms since the epoch; later after each wait. */
  deadline(): number;
  /** Share of the budget that is used, 0 to 1: the largest share of its parts. */
  usedShare(): number;
  /** Waits with everything in the sandbox frozen. The deadline moves by the time of the freeze. */
  waiting<T>(why: WaitReason, wait: () => Promise<T>): Promise<T>;
  /** Records a past wait of `ms`, e.g. of a failed try. Nothing was frozen for it, so the deadline does not move. */
  waited?(why: WaitReason, ms: number): void;
  /**
   * Reserves the most that a new call can take, and counts it as in flight. undefined: together with the reserved
   * calls it could pass a limit, so one of them must end first (one of another attempt's, if the limit is the
   * run's cap). Call `over` before it.
   */
  hold(most: { tokens: number; dollars: number | null }): HeldCall | undefined;
  /** Charges a try of `held`, which is in flight no more. On disk before it returns. */
  charge(spent: CallCharge, held: HeldCall): void;
  /** Checks known usage, and upper estimates where usage is missing. */
  over(): OverBudget | undefined;
  /**
   * Why a call that costs at most `most` may not be sent under the run's cap: the cap is used up, or the cost of
   * the call is unknown (null). undefined: it may be sent. The cap is the operator's limit, not the agent's.
   */
  overCap(most: number | null): string | undefined;
  spending(): Spending;
};
