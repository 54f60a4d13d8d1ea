// The variables that every agent sees and that do not depend on the machine or the time. An agent can read them,
// so they are part of its attempt's key. Everything that starts an agent's programs takes them from here.
import type { Scalar } from "@mlrb/formats/declared/pipeline";

/**
 * `task` and `seed` are the values of these axes, where the stage has them. `cpus`: the stage's, as threads of
 * libraries. `gpuMemoryBytes`: a cap on the memory of each GPU, where the stage has one.
 */
export function agentVariables(of: {
  task?: Scalar | undefined;
  seed?: Scalar | undefined;
  cpus?: number | undefined;
  gpuMemoryBytes?: number | undefined;
}): Record<string, string> {
  const { task, seed, cpus = 1, gpuMemoryBytes } = of;
  return {
    LANG: "C.UTF-8",
    TZ: "UTC",
    PYTHONHASHSEED: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    OMP_NUM_THREADS: String(Math.max(1, Math.floor(cpus))),
    ...(task !== undefined && { MLRB_TASK: String(task) }),
    ...(seed !== undefined && { MLRB_SEED: String(seed) }),
    ...(gpuMemoryBytes !== undefined && { MLRB_GPU_MEMORY_BYTES: String(gpuMemoryBytes) }),
  };
}
