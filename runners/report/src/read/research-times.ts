// Durations of an attempt's research, which are not in the report (times.ts has the reason). Formulas:
// docs/measures/iterations.md.

import { higherIsBetter } from "@mlrb/core/iterations/printed-values";
import { iterationsFile, type ResearchMeasures } from "@mlrb/formats/attempt/iterations";
import type { Member } from "@mlrb/formats/stage/collected";
import type { ReadText } from "./read-evidence.ts";
import { readPlain } from "./read-plain.ts";

export type ResearchTimes = {
  /** To the first snapshot that can be loaded; null without one, or where it is unknown. */
  firstValidSeconds: number | null;
  /** Of the self-reported metric, in its unit; at least 0. Null where it is unknown. */
  improvementPerHour: number | null;
};

/** A gain within seconds cannot be scaled to an hour. */
const hoursMin = 1 / 60;

const unknown: ResearchTimes = { firstValidSeconds: null, improvementPerHour: null };

/** `member` has the role `iterations`; `direction` is a scorer's, by name. */
export function researchTimes(
  member: Member | undefined,
  { read, direction }: { read: ReadText; direction: (scorer: string) => unknown },
): ResearchTimes {
  const artifact = member?.artifacts.iterations;
  if (artifact?.path === undefined) return unknown;
  const text = read({ path: artifact.path, kind: artifact.kind });
  const found = text.kind === "ok" ? readPlain(iterationsFile, text.value) : text;
  if (found.kind !== "ok" || found.value.kind !== "found") return unknown;
  const { measures } = found.value;
  const { firstValidMs } = measures;
  return {
    firstValidSeconds: firstValidMs === null ? null : Math.round(firstValidMs / 100) / 10,
    improvementPerHour: improvementPerHour(measures, direction),
  };
}

/** (best − first) ÷ hours from the first value to the last, in the direction that is better. */
function improvementPerHour(
  { metric, values }: ResearchMeasures,
  direction: (scorer: string) => unknown,
): number | null {
  if (metric === null || values.length < 2) return null;
  const known = direction(metric.name);
  const up = known === undefined ? higherIsBetter(metric.name) : known === "higher";
  const hours = (values.at(-1)!.sinceStartMs - values[0]!.sinceStartMs) / 3_600_000;
  if (up === undefined || hours < hoursMin) return null;
  const gains = values.map(
    ({ value }) => (up ? value : -value) - (up ? values[0]!.value : -values[0]!.value),
  );
  return gains.reduce((best, gain) => Math.max(best, gain)) / hours;
}
