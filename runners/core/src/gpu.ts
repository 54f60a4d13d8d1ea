// One GPU of a host as its driver tells of it. What a stage holds is named by UUID: an index is another
// device after a reboot, and inside a container.
export type Gpu = {
  /** In the driver's order. */
  index: number;
  /** e.g. `GPU-8f2c…`, or `MIG-…` of a slice. */
  uuid: string;
  /** As the driver calls it; of a slice with its profile, e.g. `NVIDIA A100-SXM4-80GB MIG 1g.10gb`. */
  model: string;
  memoryBytes: number;
  /** Version of the driver. */
  driver: string;
  /** A slice of a GPU that is divided (MIG). */
  slice: boolean;
};
