// The variables by which programs in a sandbox find their interpreter and their GPUs, and torch the cap on their
// memory.
import { dirname } from "node:path";
import { agentVariables } from "@mlrb/core/key/agent-variables";
import { type Gpu, gpuVariables } from "@mlrb/core/ports/gpu";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { SandboxTrouble } from "./sandbox-trouble.ts";

export type ProgramPlace = {
  /** The agent's interpreter; undefined: that of the sandbox. */
  python?: string | undefined;
  /** Whether the agent has an image of its own, whose PATH holds. */
  ownImage?: boolean;
  cpus?: number | undefined;
  gpus?: readonly Gpu[];
  /** A cap on the memory of each GPU, where attempts have one. */
  gpuMemoryBytes?: number | undefined;
};

/** Throws SandboxTrouble where the cap on GPU memory cannot be applied. */
export function programVariables(
  { kind }: Sandbox,
  place: ProgramPlace & Parameters<typeof agentVariables>[0],
): Record<string, string> {
  const path = pathInside(place);
  const { gpus = [] } = place;
  const { MLRB_GPUS = "", ...devices } = gpuVariables(gpus);
  return {
    ...(path !== undefined && { PATH: path }),
    ...agentVariables(place),
    // a sandbox with walls shows only the agent's devices; without walls, a variable says which devices to use
    ...(gpus.length > 0 && { MLRB_GPUS, ...(kind === "plain" && devices) }),
    ...allocatorVariables(place),
  };
}

/** Undefined where the PATH of the image holds. */
export function pathInside({ python, ownImage }: ProgramPlace): string | undefined {
  const system = "/usr/local/bin:/usr/bin:/bin";
  if (python) return `${dirname(python)}:${system}`;
  return ownImage ? undefined : system;
}

/**
 * A cap on GPU memory for torch's allocator, which takes it as a share of the device. The smallest device decides.
 * Throws SandboxTrouble where the driver does not report a device's memory: the attempt would run under another
 * condition.
 */
function allocatorVariables({ gpus = [], gpuMemoryBytes }: ProgramPlace): Record<string, string> {
  if (gpuMemoryBytes === undefined) return {};
  const unknown = gpus.find(({ memoryBytes }) => memoryBytes <= 0);
  if (unknown || gpus.length === 0)
    throw new SandboxTrouble(
      `gpuMemory cannot be applied: ${unknown ? `the driver does not report the memory of ${unknown.model}` : "the attempt holds no GPU"}`,
    );
  const share = Math.min(1, gpuMemoryBytes / Math.min(...gpus.map(({ memoryBytes }) => memoryBytes)));
  const rounded = Math.max(1, Math.floor(share * 10_000)) / 10_000; // never above the cap
  return { PYTORCH_CUDA_ALLOC_CONF: `per_process_memory_fraction:${rounded}` };
}
