// A line of .mlrb/services.jsonl: how long a service has run. Of lines with equal service, run and start the last
// counts.
import * as t from "../schema.ts";

export const serviceHours = t.wholeFile("mlrb service hours", 1, {
  service: t.text,
  pipeline: t.text,
  profile: t.text,
  run: t.text,
  startedAt: t.anyText,
  gpus: t.about(t.count, "the GPUs that it held"),
  seconds: t.number,
});
export type ServiceHoursLine = t.TypeOf<typeof serviceHours>;
