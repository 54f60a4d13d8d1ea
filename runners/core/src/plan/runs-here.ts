// Which stages use the CPUs, memory and GPUs of the host that the runner is on.
// Pure.
import type { Execution } from "./plan.ts";

/** Slurm books for its jobs itself. */
export function runsHere({ execution }: { execution: Pick<Execution, "executor"> }): boolean {
  return execution.executor !== "slurm";
}
