// A line of .mlrb/services.jsonl: how long a service has run. Of lines with equal service, run and start the last counts.
import { anyText, count, fileFormat, number, type TypeOf, text, wholeObject } from "../schema.ts";

export const serviceHours = fileFormat(
  "mlrb service hours",
  wholeObject({
    formatVersion: { const: 1 },
    service: text,
    pipeline: text,
    profile: text,
    run: text,
    startedAt: anyText,
    gpus: { ...count, description: "the GPUs that it held" },
    seconds: number,
  }),
);
export type ServiceHoursLine = TypeOf<typeof serviceHours>;
