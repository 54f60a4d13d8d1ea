// The cost of several attempts together. Unknown and 0 are counted separately.
// Pure: no disk, no clock.
import type { Preview } from "@mlrb/local/decide/preview-plan";
import { counted } from "../show/counted.ts";

export type TotalCost = {
  attempts: number;
  gpuHours: number;
  /** How many attempts have no bound on GPU hours. */
  unknownGpuHours: number;
  dollars: number;
  unknownDollars: number;
};

/** Sums over the attempts that would run; with `left`, also over stale ones that would be left. */
export function totalCost(previews: Pick<Preview, "action" | "onStale" | "cost">[], left = false): TotalCost {
  const total = { attempts: 0, gpuHours: 0, unknownGpuHours: 0, dollars: 0, unknownDollars: 0 };
  for (const { action, onStale, cost } of previews) {
    if (!cost || (action === "stale" && onStale === "leave" && !left)) continue;
    total.attempts++;
    if (cost.gpuHours === null) total.unknownGpuHours++;
    else total.gpuHours += cost.gpuHours;
    if (cost.dollars === null) total.unknownDollars++;
    else total.dollars += cost.dollars;
  }
  return total;
}

/** What is unknown of all attempts has no amount: `2 attempts, about 48.0 GPU hours and 80.00 dollars, 1 of them at an unknown price`. */
export function costWords(cost: TotalCost): string {
  const { attempts, gpuHours, unknownGpuHours, dollars, unknownDollars } = cost;
  const which = (count: number) => (count === attempts ? (count === 1 ? "" : "all ") : `${count} of them `);
  const unknown = [
    ...(unknownGpuHours > 0 ? [`${which(unknownGpuHours)}without a bound on GPU hours`] : []),
    ...(unknownDollars > 0 ? [`${which(unknownDollars)}at an unknown price`] : []),
  ];
  const amounts = [
    ...(unknownGpuHours < attempts ? [`${gpuHours.toFixed(1)} GPU hours`] : []),
    ...(unknownDollars < attempts ? [`${dollars.toFixed(2)} dollars`] : []),
  ];
  const about = amounts.length > 0 ? [`about ${amounts.join(" and ")}`] : [];
  return [counted(attempts, "attempt"), ...about, ...unknown].join(", ");
}
