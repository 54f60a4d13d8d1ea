// What an attempt has used of its budget while it runs, as others see it. Types only; attempt-meter.ts counts.

import type { EstimatedSpending, ModelSpending } from "@mlrb/formats/attempt/ledger";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";
import type { AttemptMeter } from "./attempt-meter.ts";

export type BudgetLimits = {
  /** Working time. */
  timeMs: number;
  /** Input and output of all model calls. */
  tokens?: number;
  dollars?: number;
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
   * Counts the call as in flight again; call it before the call is sent again. On disk before it returns. false: together
   * with the calls in flight it could pass a limit by more than one call, so one of them must end first.
   */
  again(): boolean;
  /** Call once the call is charged, or if it will not be sent. */
  release(): void;
};

/** `waited` is absent where no wait can be recorded afterwards. */
export type Meter = Pick<
  AttemptMeter,
  "leftMs" | "deadline" | "usedShare" | "waiting" | "hold" | "charge" | "over" | "overCap" | "spending"
> &
  Partial<Pick<AttemptMeter, "waited">>;
