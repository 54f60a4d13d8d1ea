// The format of calibration.json: how fast a host trains a fixed model and copies memory.
import { fileFormat, number, type TypeOf, text, wholeObject } from "../schema.ts";

const speed = { ...number, exclusiveMinimum: 0 } as const;

/** What a report keeps of it. */
export const speeds = {
  device: { ...text, description: "the driver's name of the GPU, or cpu" },
  tokensPerSecond: { ...speed, description: "of training steps; another recipe on a CPU than on a GPU" },
  bytesPerSecond: { ...speed, description: "read and written by copies within the device's memory" },
} as const;

export const calibration = fileFormat(
  "mlrb calibration",
  wholeObject({ formatVersion: { const: 1 }, ...speeds }),
);
export type Calibration = TypeOf<typeof calibration>;
