// Computes the cost of an attempt from the ledger in its folder. Without a ledger, reads the meter's last file.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptCost } from "@mlrb/formats/attempt/attempt-record";
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import { callsOf, lastSpending } from "@mlrb/kit/attempts/last-spending";
import { claimsOfJobs, jobsFolder } from "@mlrb/kit/attempts/open-job";
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
  // what a replay repeats is not paid again
  const dollars = read.replay ? 0 : (read.dollars ?? null);
  return { gpuHours: read.gpuHours ?? held.gpuHours, dollars };
}

/**
 * The time for which the attempt held its GPUs, in ms: over all its supervisors and jobs, without the time between
 * them and in a queue. `lastMs` is the duration of its last supervisor, once that has ended: it lacks the time of
 * earlier ones.
 */
export function heldMs(attempt: Omit<PlacedAttempt, "name">, lastMs?: number): number {
  const { path } = attempt;
  const sinceStartMs = lastSpending(join(path, "spending.jsonl"))?.sinceStartMs;
  if (lastMs !== undefined) return Math.max(lastMs, sinceStartMs ?? 0);
  if (sinceStartMs !== undefined) return sinceStartMs;
  return isOnCluster(attempt) ? jobsMs(attempt) : lastSignMs(attempt);
}

/** Whether its stage runs as a job: its supervisor lives before the stage begins, and says nothing of it. */
export function isOnCluster({ path, card }: Omit<PlacedAttempt, "name">): boolean {
  return card.executor === "slurm" || existsSync(join(path, jobsFolder));
}

/**
 * The sum over all jobs that have begun, from the begin of their claim to its last sign of life. Where the file
 * system keeps no time of creation, the time in the queue is included.
 */
function jobsMs(attempt: Omit<PlacedAttempt, "name">): number {
  const times = claimsOfJobs(attempt.path).map((claim) => {
    const { birthtimeMs, mtimeMs } = statSync(claim);
    return birthtimeMs > 0 ? Math.max(0, mtimeMs - birthtimeMs) : lastSignMs(attempt);
  });
  return Math.round(times.reduce((sum, one) => sum + one, 0));
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
function lastSignMs({ path, card }: Omit<PlacedAttempt, "name">): number {
  const began = Date.parse(card.startedAt);
  const outputs = card.gives.map(({ file }) => join("out", file));
  const files = ["spending.jsonl", "log", "supervisor.json", ...outputs];
  const times = files.map((file) => statSync(join(path, file), { throwIfNoEntry: false })?.mtimeMs ?? began);
  return Math.max(0, Math.round(Math.max(...times) - began));
}
