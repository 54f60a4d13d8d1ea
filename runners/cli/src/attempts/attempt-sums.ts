// The total cost of attempts: recorded, lost, ended without a record yet, and running. All money counts, also that
// of attempts that failed.
// Pure: no disk, no clock.
import type { AttemptCost, AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { amountWords, costSum } from "../gates/spent.ts";

export type AttemptSums = Record<
  "recorded" | "lost" | "ended" | "running",
  AttemptCost & { attempts: number }
>;

/** The cost of a record. If its estimate was 0 dollars, dollars missing from the ledger are 0. */
export function recordedCost({ cost, estimate }: Pick<AttemptRecord, "cost" | "estimate">): AttemptCost {
  return { ...cost, dollars: cost.dollars ?? (estimate?.dollars === 0 ? 0 : null) };
}

/** `others`: attempts without a record. */
export function attemptSums(
  recorded: AttemptCost[],
  others: { kind: Exclude<keyof AttemptSums, "recorded">; cost: AttemptCost }[],
): AttemptSums {
  const sum = (of: AttemptCost[]) => ({ attempts: of.length, ...costSum(of) });
  const of = (wanted: string) => sum(others.filter(({ kind }) => kind === wanted).map(({ cost }) => cost));
  return { recorded: sum(recorded), lost: of("lost"), ended: of("ended"), running: of("running") };
}

/** `2.0 GPU hours and 1.50 dollars in total, including 0.40 dollars by 1 lost`; undefined where nothing was spent. */
export function sumsWords({ recorded, lost, ended, running }: AttemptSums): string | undefined {
  const all = costSum([recorded, lost, ended, running]);
  if (all.gpuHours === 0 && all.dollars === 0) return undefined;
  const of = [
    ...(lost.attempts > 0 ? [`${amountWords(lost)} by ${lost.attempts} lost`] : []),
    ...(ended.attempts > 0
      ? [`${amountWords(ended)} by ${ended.attempts} ended, which the next run records`]
      : []),
    ...(running.attempts > 0 ? [`${amountWords(running)} by ${running.attempts} running`] : []),
  ];
  return `${amountWords(all)} in total${of.length > 0 ? `, including ${of.join(", ")}` : ""}`;
}
