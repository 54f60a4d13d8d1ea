// One GPU of a host as its driver tells of it. What a stage holds is named by UUID: an index is another
// device after a reboot, and inside a container.
// Pure.
export type Gpu = {
  /** In the driver's order. */
  index: number;
  /** e.g. `GPU-8f2c…`, or `MIG-…` of a slice. */
  uuid: string;
  /** As the driver calls it; of a slice with its profile, e.g. `NVIDIA A100-SXM4-80GB MIG 1g.10gb`. */
  model: string;
  /** 0 where the driver does not tell. */
  memoryBytes: number;
  /** Version of the driver; empty where it does not tell. */
  driver: string;
  /** A slice of a GPU that is divided (MIG). */
  slice: boolean;
};

/**
 * What CUDA and our own scripts go by in a process that holds `gpus`. Where it holds none the list is there
 * and empty, so that no program takes a device that another stage has leased.
 */
export function gpuVariables(gpus: readonly Gpu[]): Record<string, string> {
  const uuids = gpus.map(({ uuid }) => uuid).join(",");
  return { CUDA_VISIBLE_DEVICES: uuids, MLRB_GPUS: String(gpus.length) };
}

/** For provenance, beside outputs and never in them; empty of what held none. */
export function gpuFacts(gpus: readonly Gpu[]): Record<string, string> {
  if (gpus.length === 0) return {};
  const drivers = [...new Set(gpus.map(({ driver }) => driver).filter(Boolean))].join(", ");
  return {
    gpus: gpus.map(({ model, uuid }) => `${model} (${uuid})`).join(", "),
    ...(drivers !== "" && { driver: drivers }),
  };
}
