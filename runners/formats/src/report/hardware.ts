// The machine's speed in report.json, and which GPUs attempts held.
import { speeds } from "../judged/calibration.ts";
import * as t from "../schema.ts";

/** After a class of GPUs whose memory the agent should not use whole. No kernel holds it. */
export const cooperativeCap = "cooperative cap of";

/** Of an attempt, also in manifests. */
export const heldGpus = t.about(
  t.text,
  "the models of the GPUs that the attempt held, e.g. 2 × NVIDIA A100 (cooperative cap of 40 GB); absent without GPUs",
);

export const reportHardware = t.about(
  t.wholeObject({
    ...speeds,
    referenceTokensPerSecond: t.about(
      t.numberOrNull,
      "of the host that counts as 1; null: the calibrated one",
    ),
  }),
  "the calibration of the host that made the report; absent if the pipeline has none",
);
export type ReportHardware = t.TypeOf<typeof reportHardware>;
