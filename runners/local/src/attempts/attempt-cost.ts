// Computes the cost of an attempt from the ledger in its folder. Without a ledger, reads the meter's last file.

import { statSync } from "node:fs";
import { join } from "node:path";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptCost } from "@mlrb/formats/attempt/attempt-record";
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import { callsOf, lastSpending } from "@mlrb/kit/attempts/last-spending";
import { readLedgerCost } from "@mlrb/kit/rules/ledger";
import { outputPaths } from "../stage/output-paths.ts";
import type { PlacedAttempt } from "./attempt-folders.ts";

/** Null is unknown, never 0. Without a ledger, GPUs count for the whole duration. */
export function costByLedger(
  { gpus }: Pick<AttemptCard, "gpus">,
  durationMs: number,
  ledger: string | undefined,
): AttemptCost {
  const held: AttemptCost = { gpuHours: (gpus * durationMs) / 3_600_000, dollars: null };
  const read = ledger === undefined ? "it has none" : readLedgerCost(ledger);
  if (typeof read === "string") return held;
  return { gpuHours: read.gpuHours ?? held.gpuHours, dollars: read.dollars ?? null };
}

/**
 * The time for which the attempt held its GPUs: `durationMs` of its last supervisor lacks that of earlier ones. The time
 * of a branch's parent is the parent's.
 */
export function heldMs({ path, card }: Omit<PlacedAttempt, "name">, durationMs: number): number {
  const knownMs = lastSpending(join(path, "spending.jsonl"))?.sinceStartMs ?? 0;
  return Math.max(durationMs, knownMs - (card.parts.branch?.sinceStartMs ?? 0));
}

export type Spent = { cost: AttemptCost; spending: LastSpending | null };

/** The cost of an attempt without a record, ended or running. A stage without secrets spends no dollars. */
export function spentBy({ path, card }: Omit<PlacedAttempt, "name">, durationMs: number): Spent {
  const spending = lastSpending(join(path, "spending.jsonl")) ?? null;
  const { ledger } = outputPaths(path, card.gives);
  const cost = costByLedger(card, heldMs({ path, card }, durationMs), ledger);
  const called = spending !== null && callsOf(spending) > 0;
  if (called) return { cost: { ...cost, dollars: dollarsOf(spending) }, spending };
  const none = card.secrets.length === 0 || spending !== null ? 0 : null;
  return { cost: { ...cost, dollars: cost.dollars ?? none }, spending };
}

/** Includes upper estimates for calls without a charge: a call in flight may be billed in full. */
function dollarsOf({ dollars, estimated, inFlight }: LastSpending): number | null {
  const parts = [dollars, estimated?.dollars ?? 0, inFlight?.dollars ?? 0];
  return parts.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
}

/** Duration until the last of its files was written, in ms. */
export function lastSignMs({ path, card }: Omit<PlacedAttempt, "name">): number {
  const began = Date.parse(card.startedAt);
  const files = [
    "spending.jsonl",
    "log",
    "supervisor.json",
    ...card.gives.map(({ file }) => join("out", file)),
  ];
  const times = files.map((file) => statSync(join(path, file), { throwIfNoEntry: false })?.mtimeMs ?? began);
  return Math.max(0, Math.round(Math.max(...times) - began));
}
