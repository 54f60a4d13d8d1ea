// Leases the GPUs of a stage instance before it starts, on executors of this host.
import type { Instance } from "@mlrb/core/plan/plan";
import type { CarriedOut } from "../run/carried-out.ts";
import type { RunEvent } from "../run/run-request.ts";
import { usesGpusHere } from "./gpu-inventory.ts";
import { type GpuLease, leaseGpus } from "./gpu-leases.ts";

type Asking = { run: string; interrupts: () => number; onEvent: (event: RunEvent) => void };

/**
 * Undefined if the instance wants no GPU of this host. A result with `kind` is the end of an instance without its
 * GPUs.
 */
export async function holdGpus(
  instance: Instance,
  { run, interrupts, onEvent }: Asking,
): Promise<GpuLease | CarriedOut | undefined> {
  if (!usesGpusHere(instance)) return undefined;
  const { gpus: count } = instance.execution.resources;
  const wanted = count === 1 ? "a GPU that it wants" : "GPUs that it wants";
  const lease = await leaseGpus({
    count,
    run,
    stage: instance.id,
    waiting: (holder) => onEvent({ kind: "waiting", instance, holder, wanted }),
    leftOut: (gpu, why) => onEvent({ kind: "gpu-left-out", instance, gpu, why }),
    stopped: () => interrupts() > 0,
  });
  if (!lease) return { kind: "cancelled" };
  return "lacking" in lease ? { kind: "failed", cause: "machine", detail: lease.lacking } : lease;
}
