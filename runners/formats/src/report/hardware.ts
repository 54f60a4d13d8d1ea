// The machine's speed in report.json, and which GPUs attempts held.
import { speeds } from "../judged/calibration.ts";
import { numberOrNull, type TypeOf, text, wholeObject } from "../schema.ts";

/** Of an attempt, also in manifests. */
export const heldGpus = {
  ...text,
  description: "the models of the GPUs that the attempt held, e.g. 2 × NVIDIA A100; absent without GPUs",
} as const;

export const reportHardware = {
  ...wholeObject({
    ...speeds,
    referenceTokensPerSecond: {
      ...numberOrNull,
      description: "of the host that counts as 1; null: the calibrated one",
    },
  }),
  description: "the calibration of the host that made the report; absent if the pipeline has none",
} as const;
export type ReportHardware = TypeOf<typeof reportHardware>;
