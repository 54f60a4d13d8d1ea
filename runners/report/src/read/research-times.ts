// Durations of an attempt's research, which are not in the report (times.ts has the reason). Formulas:
// docs/measures.md.

import { iterationsFile, type ResearchMeasures } from "@mlrb/formats/attempt/iterations";
import type { Member } from "@mlrb/formats/stage/collected";
import type { Times } from "@mlrb/formats/times";
import type { ReadText } from "./read-artifact.ts";
import { readPlain } from "./read-plain.ts";

type ResearchTimes = Pick<
  Times["attempts"][number],
  "firstValidSeconds" | "improvementPerHour" | "sinceImprovementSeconds" | "bestSoFar" | "timeSpent"
>;

/** A gain within seconds cannot be scaled to an hour. */
const hoursMin = 1 / 60;

const unknown: ResearchTimes = {
  firstValidSeconds: null,
  improvementPerHour: null,
  sinceImprovementSeconds: null,
  bestSoFar: [],
};

/** `member` has the role `iterations`; `direction` is a scorer's, by name; `wallMs` is the attempt's duration. */
export function researchTimes(
  member: Member | undefined,
  {
    read,
    direction,
    wallMs,
  }: { read: ReadText; direction: (scorer: string) => unknown; wallMs: number | undefined },
): ResearchTimes {
  const artifact = member?.artifacts.iterations;
  if (artifact?.path === undefined) return unknown;
  const text = read({ path: artifact.path, kind: artifact.kind });
  const found = text.kind === "ok" ? readPlain(iterationsFile, text.value) : text;
  if (found.kind !== "ok" || found.value.kind !== "found") return unknown;
  const { measures } = found.value;
  const { firstValidMs, timeSpent } = measures;
  const improvements = bestSoFar(measures, direction);
  const last = improvements.at(-1);
  return {
    firstValidSeconds: firstValidMs === null ? null : secondsOf(firstValidMs),
    improvementPerHour: improvementPerHour(measures, improvements),
    sinceImprovementSeconds: last && wallMs !== undefined ? secondsOf(Math.max(0, wallMs - last.ms)) : null,
    bestSoFar: improvements.map(({ ms, value }) => ({ seconds: secondsOf(ms), value })),
    ...(timeSpent && {
      timeSpent: {
        waitSeconds: secondsOf(timeSpent.waitMs),
        modelSeconds: secondsOf(timeSpent.modelMs),
        programSeconds: secondsOf(timeSpent.programMs),
      },
    }),
  };
}

type Improvement = { ms: number; value: number };

/** The first value, and each that is better than all before. Empty without a scorer of that name: a name alone does not say what is better. */
function bestSoFar(
  { metric, values }: ResearchMeasures,
  direction: (scorer: string) => unknown,
): Improvement[] {
  if (metric === null) return [];
  const known = direction(metric.name);
  if (known === undefined) return [];
  const up = known === "higher";
  const found: Improvement[] = [];
  for (const { value, sinceStartMs } of values) {
    const best = found.at(-1)?.value;
    if (best === undefined || (up ? value > best : value < best)) found.push({ ms: sinceStartMs, value });
  }
  return found;
}

/** Seconds to one digit. */
export function secondsOf(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/** |best − first| ÷ hours from the first value to the last. */
function improvementPerHour({ values }: ResearchMeasures, improvements: Improvement[]): number | null {
  if (values.length < 2 || improvements.length === 0) return null;
  const hours = (values.at(-1)!.sinceStartMs - values[0]!.sinceStartMs) / 3_600_000;
  if (hours < hoursMin) return null;
  return Math.abs(improvements.at(-1)!.value - improvements[0]!.value) / hours;
}
