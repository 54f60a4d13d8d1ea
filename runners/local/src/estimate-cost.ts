// What an attempt will probably cost: the median of earlier ones by the same agent on the same task,
// else what its budget and devices allow at most. Unknown is unknown, never zero.
import type { Instance } from "@mlrb/core/plan";
import type { Workspace } from "./workspace.ts";

export type CostEstimate = {
  gpuHours: number;
  /** null: nobody knows. A stage that is handed no secrets has nobody to pay. */
  dollars: number | null;
  /** How many earlier attempts it is the median of; 0: from the budget. */
  from: number;
};

export function estimateCost(instance: Instance, { attempts }: Workspace): CostEstimate {
  const earlier = attempts.alike(instance.stage.name, instance.axes).map(({ record }) => record.cost);
  const gpuHours = median(earlier.map((cost) => cost.gpuHours));
  const dollars = median(earlier.map((cost) => cost.dollars));
  const { gpus } = instance.execution.resources;
  const allowedMs = instance.action.budget.timeMs ?? instance.execution.limits.timeMs ?? 0;
  const paid = instance.action.secrets.some((name) => process.env[name] !== undefined);
  return {
    gpuHours: gpuHours ?? (gpus * allowedMs) / 3_600_000,
    dollars: dollars ?? (paid ? null : 0),
    from: earlier.length,
  };
}

function median(values: (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (known.length === 0) return undefined;
  const middle = known.length >> 1;
  return known.length % 2 === 1 ? known[middle]! : (known[middle - 1]! + known[middle]!) / 2;
}
