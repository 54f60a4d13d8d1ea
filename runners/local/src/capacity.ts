// What a run may share out: this machine, and the pools that its pipeline names.
import { availableParallelism, totalmem } from "node:os";
import type { Resources } from "@mlrb/core/amounts";
import type { Plan } from "@mlrb/core/plan";
import { gpuCount } from "./gpu-count.ts";

type Asked = { plan: Plan; selected: number[]; jobs?: number | undefined };

export function capacity({ plan, selected, jobs }: Asked): Resources {
  return {
    cpus: jobs ?? availableParallelism(),
    memoryBytes: totalmem(),
    gpus: gpuCount(selected.map((index) => plan.instances[index]!)),
    pools: plan.pools,
  };
}
