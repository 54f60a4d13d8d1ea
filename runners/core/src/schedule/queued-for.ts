// The resources for which ready instances wait: GPUs, memory or a pool. CPUs are left out, since they are usually
// all in use. Pure.
import type { Capacity, ScheduleState } from "./schedule-state.ts";

export type Queued = { resource: "GPUs" | "memory" | `pool ${string}`; instances: number };

const [memoryAt, gpusAt, poolsAt] = [1, 2, 3];

/** In the order GPUs, memory, pools by name. An instance is counted at the first resource that it lacks. */
export function queuedFor(state: ScheduleState, capacity: Capacity): Queued[] {
  if (state.ready.size === 0) return [];
  const pools = Object.keys(capacity.pools ?? {}).sort();
  const kinds: { at: number; resource: Queued["resource"] }[] = [
    { at: gpusAt, resource: "GPUs" },
    { at: memoryAt, resource: "memory" },
    ...pools.map((pool, index) => ({ at: poolsAt + index, resource: `pool ${pool}` as const })),
  ];
  const counts = new Map<Queued["resource"], number>();
  for (const [index, phase] of state.phase.entries()) {
    if (phase !== "ready") continue;
    const wants = state.wants(index);
    const lacked = kinds.find(({ at }) => wants[at]! > state.free[at]!);
    if (lacked) counts.set(lacked.resource, (counts.get(lacked.resource) ?? 0) + 1);
  }
  return kinds.flatMap(({ resource }) => {
    const instances = counts.get(resource);
    return instances === undefined ? [] : [{ resource, instances }];
  });
}

/** `3 wait for GPUs, 1 waits for pool api:openai`; empty if none waits. */
export function queuedWords(queued: Queued[]): string {
  return queued
    .map(({ resource, instances }) => `${instances} ${instances === 1 ? "waits" : "wait"} for ${resource}`)
    .join(", ");
}

/** Why a ready instance waits: `holder` runs the same action, or holds the `wanted` resource. */
export function heldWords({ holder, wanted }: { holder: string; wanted?: string | undefined }): string {
  return wanted === undefined ? `${holder} does it` : `${holder} holds ${wanted}`;
}
