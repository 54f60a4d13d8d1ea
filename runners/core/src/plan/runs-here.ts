// Which stages use the CPUs, memory and GPUs of the host that the runner is on.
// Pure.
import type { Execution } from "./plan.ts";

const here = new Set(["local", "docker"]);

/** Other executors book for their stages themselves. */
export function runsHere({ execution }: { execution: Pick<Execution, "executor"> }): boolean {
  return here.has(execution.executor);
}
