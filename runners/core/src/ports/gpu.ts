// A GPU of a host as its driver reports it. Stages hold GPUs by UUID: the index of a device changes with a reboot
// and inside a container. Pure.
export type Gpu = {
  /** In the driver's order. */
  index: number;
  /** e.g. `GPU-8f2c…`, or `MIG-…` for a slice. */
  uuid: string;
  /** The driver's name; for a slice with its profile, e.g. `NVIDIA A100-SXM4-80GB MIG 1g.10gb`. */
  model: string;
  /** 0 if the driver does not report it. */
  memoryBytes: number;
  /** Version of the driver; may be empty. */
  driver: string;
  /** A slice of a partitioned GPU (MIG). */
  slice: boolean;
};

/**
 * The variables by which CUDA and our scripts find the GPUs of a process. Without GPUs the list is set and empty,
 * so that no program takes a device that another stage has leased.
 */
export function gpuVariables(gpus: readonly Gpu[]): Record<string, string> {
  const uuids = gpus.map(({ uuid }) => uuid).join(",");
  return { CUDA_VISIBLE_DEVICES: uuids, MLRB_GPUS: String(gpus.length) };
}

/** For provenance, next to outputs and never in them; empty without GPUs. */
export function gpuFacts(gpus: readonly Gpu[]): Record<string, string> {
  if (gpus.length === 0) return {};
  const drivers = [...new Set(gpus.map(({ driver }) => driver).filter(Boolean))].join(", ");
  return {
    gpus: gpus.map(({ model, uuid }) => `${model} (${uuid})`).join(", "),
    ...(drivers !== "" && { driver: drivers }),
  };
}
