// The variables by which an agent's program finds its GPUs, and torch the cap on their memory.
import { type Gpu, gpuVariables } from "@mlrb/core/ports/gpu";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { SandboxTrouble } from "./sandbox-trouble.ts";

/** A sandbox with walls shows only the agent's devices. Without walls, a variable says which devices to use. */
export function deviceVariables({ kind }: Sandbox, gpus: readonly Gpu[]): Record<string, string> {
  if (gpus.length === 0) return {};
  const variables = gpuVariables(gpus);
  return kind === "plain" ? variables : { MLRB_GPUS: variables.MLRB_GPUS! };
}

/**
 * A cap on GPU memory for torch's allocator, which takes it as a share of the device. The smallest device decides.
 * Throws SandboxTrouble where the driver does not report a device's memory: the attempt would run under another condition.
 */
export function allocatorVariables({
  gpus = [],
  gpuMemoryBytes,
}: {
  gpus?: readonly Gpu[] | undefined;
  gpuMemoryBytes?: number | undefined;
}): Record<string, string> {
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
