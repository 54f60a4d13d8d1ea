// The format of calibration.json: how fast a host trains a fixed model and copies memory.
import * as t from "../schema.ts";

const speed = { ...t.number, exclusiveMinimum: 0 } as const;

/** What a report keeps of it. */
export const speeds = {
  device: t.about(t.text, "the driver's name of the GPU, or cpu"),
  tokensPerSecond: t.about(speed, "of training steps; another recipe on a CPU than on a GPU"),
  bytesPerSecond: t.about(speed, "read and written by copies within the device's memory"),
} as const;

export const calibration = t.wholeFile("mlrb calibration", 1, { ...speeds });
export type Calibration = t.TypeOf<typeof calibration>;
