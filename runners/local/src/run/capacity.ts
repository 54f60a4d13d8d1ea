// The resources that a run may allocate: those of this machine, and the pools that its pipeline names.
import { availableParallelism, totalmem } from "node:os";
import type { Plan } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { Resources } from "@mlrb/core/schedule/amounts";
import { gpusHere, usesGpusHere } from "../leases/gpu-inventory.ts";

type CapacityOptions = { plan: Plan; selected: number[]; jobs?: number | undefined };

export function capacity({ plan, selected, jobs }: CapacityOptions): Resources {
  const elsewhere = selected.filter((index) => !runsHere(plan.instances[index]!)).length;
  return {
    // a stage elsewhere counts as a thousandth: it must not wait for a CPU of this host
    cpus: (jobs ?? availableParallelism()) + elsewhere / 1000,
    memoryBytes: totalmem(),
    gpus: gpusHere(selected.map((index) => plan.instances[index]!).filter(usesGpusHere)).gpus.length,
    pools: plan.pools,
  };
}
