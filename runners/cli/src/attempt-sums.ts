// What attempts have cost in all: records, those that were lost, those that go on. Money that was spent counts
// whatever became of the attempt.
// Pure: no disk, no clock.
import type { AttemptCost } from "@mlrb/local/attempt-cost";
import type { AttemptRecord } from "@mlrb/local/attempt-records";
import { amountWords, total } from "./spent.ts";

export type AttemptSums = Record<"recorded" | "lost" | "running", AttemptCost & { attempts: number }>;

/** Of a record. Where nobody was expected to be paid, dollars that no ledger tells are none. */
export function recordedCost({ cost, estimate }: Pick<AttemptRecord, "cost" | "estimate">): AttemptCost {
  return { ...cost, dollars: cost.dollars ?? (estimate?.dollars === 0 ? 0 : null) };
}

export function attemptSums(costs: Record<keyof AttemptSums, AttemptCost[]>): AttemptSums {
  const sum = (of: AttemptCost[]) => ({
    attempts: of.length,
    gpuHours: total(of.map(({ gpuHours }) => gpuHours)),
    dollars: total(of.map(({ dollars }) => dollars)),
  });
  return { recorded: sum(costs.recorded), lost: sum(costs.lost), running: sum(costs.running) };
}

/** `2.0 GPU hours and 1.50 dollars in all, of that 0.40 dollars by 1 lost`; undefined where nothing was spent. */
export function sumsWords({ recorded, lost, running }: AttemptSums): string | undefined {
  const parts = [recorded, lost, running];
  const all = {
    gpuHours: total(parts.map(({ gpuHours }) => gpuHours)),
    dollars: total(parts.map(({ dollars }) => dollars)),
  };
  if (all.gpuHours === 0 && all.dollars === 0) return undefined;
  const of = [
    ...(lost.attempts > 0 ? [`${amountWords(lost)} by ${lost.attempts} lost`] : []),
    ...(running.attempts > 0 ? [`${amountWords(running)} by ${running.attempts} that go on`] : []),
  ];
  return `${amountWords(all)} in all${of.length > 0 ? `, of that ${of.join(" and ")}` : ""}`;
}
