// The resources that a run may allocate: those of this machine, and the pools that its pipeline names.
import { availableParallelism, totalmem } from "node:os";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Resources } from "@mlrb/core/schedule/amounts";
import { gpusHere, usesGpusHere } from "../leases/gpu-inventory.ts";

type CapacityOptions = { plan: Plan; selected: number[]; jobs?: number | undefined };

export function capacity({ plan, selected, jobs }: CapacityOptions): Resources {
  return {
    cpus: jobs ?? availableParallelism(),
    memoryBytes: totalmem(),
    gpus: gpusHere(selected.map((index) => plan.instances[index]!).filter(usesGpusHere)).gpus.length,
    pools: plan.pools,
  };
}
