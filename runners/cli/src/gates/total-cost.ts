// The cost of several attempts together. Unknown and 0 are counted separately.
// Pure: no disk, no clock.

import { counted } from "@mlrb/core/text/counted";
import type { Preview } from "@mlrb/local/decide/preview-plan";

/** `judges`: of stages with paid answers; null: unknown. */
export type TotalCost = ReturnType<typeof totalCost> & {
  judges?: { stages: number; dollars: number | null };
};

/** Sums over the attempts that would run; with `left`, also over stale ones that would be left. */
export function totalCost(previews: Pick<Preview, "action" | "onStale" | "cost" | "served">[], left = false) {
  // the unknown: how many attempts have no bound on them
  const total = { attempts: 0, gpuHours: 0, unknownGpuHours: 0, dollars: 0, unknownDollars: 0 };
  const served: NonNullable<Preview["served"]>[] = [];
  for (const { action, onStale, cost, served: one } of previews) {
    if (!cost || (action === "stale" && onStale === "leave" && !left)) continue;
    if (one) served.push(one);
    total.attempts++;
    if (cost.gpuHours === null) total.unknownGpuHours++;
    else total.gpuHours += cost.gpuHours;
    if (cost.dollars === null) total.unknownDollars++;
    else total.dollars += cost.dollars;
  }
  // of services with GPUs that the attempts use, which are in no attempt's GPU hours
  return { ...total, ...(served.length > 0 && { services: serviceCost(served) }) };
}

/** GPU hours: `least` if all users of each service run at once, `most` if they run one after the other. */
function serviceCost(served: { service: string; gpuHours: number | null }[]) {
  const longest = new Map<string, number>();
  const total = { most: 0, unknown: 0 };
  for (const { service, gpuHours } of served) {
    longest.set(service, Math.max(longest.get(service) ?? 0, gpuHours ?? 0));
    total.most += gpuHours ?? 0;
    if (gpuHours === null) total.unknown++;
  }
  const least = [...longest.values()].reduce((sum, hours) => sum + hours, 0);
  return { names: [...longest.keys()].sort(), least, ...total };
}

/** `, and 24.0 to 96.0 GPU hours of the service coder (its users at once, or one after the other)` */
function serviceWords({ names, least, most, unknown }: ReturnType<typeof serviceCost>): string {
  const whose = `of the ${names.length === 1 ? "service" : "services"} ${names.join(", ")}`;
  const [from, to] = [least.toFixed(1), most.toFixed(1)];
  if (unknown > 0) return `, and GPU hours without a bound ${whose}`;
  return from === to
    ? `, and ${to} GPU hours ${whose}`
    : `, and ${from} to ${to} GPU hours ${whose} (users at once, or one after the other)`;
}

/** What is unknown of all attempts has no amount: `2 attempts, about 48.0 GPU hours and 80.00 dollars, 1 of them at an unknown cost`. */
export function costWords(cost: TotalCost): string {
  const { attempts, gpuHours, unknownGpuHours, dollars, unknownDollars, services, judges } = cost;
  const which = (count: number) => (count === attempts ? (count === 1 ? "" : "all ") : `${count} of them `);
  const unknown = [
    ...(unknownGpuHours > 0 ? [`${which(unknownGpuHours)}without a bound on GPU hours`] : []),
    ...(unknownDollars > 0 ? [`${which(unknownDollars)}at an unknown cost`] : []),
  ];
  const amounts = [
    ...(unknownGpuHours < attempts ? [`${gpuHours.toFixed(1)} GPU hours`] : []),
    ...(unknownDollars < attempts ? [`${dollars.toFixed(2)} dollars`] : []),
  ];
  const about = amounts.length > 0 ? [`about ${amounts.join(" and ")}`] : [];
  const own = [counted(attempts, "attempt"), ...about, ...unknown].join(", ");
  const all = services ? own + serviceWords(services) : own;
  if (!judges) return all;
  const paid = judges.dollars === null ? "unknown" : `about ${judges.dollars.toFixed(2)}`;
  const answers = `${counted(judges.stages, "stage")} with answers of judges, ${paid} dollars`;
  return attempts === 0 ? answers : `${all}, and ${answers}`;
}
