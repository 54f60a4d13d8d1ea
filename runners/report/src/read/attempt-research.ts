// An attempt's self-reported results compared with its scores. Formulas: docs/measures/iterations.md.
import { higherIsBetter } from "@mlrb/core/iterations/printed-values";
import type { Failure, IterationsFile } from "@mlrb/formats/attempt/iterations";
import type { Direction } from "@mlrb/formats/judged/score";
import type { Reading } from "@mlrb/formats/read-format";
import type { AttemptResearch, AttemptScore, ResearchFailure } from "@mlrb/formats/report/attempt";

type FoundIterations = Extract<IterationsFile, { kind: "found" }>;

/** Null where the pipeline has no stage for iterations. Durations are in times.ts. */
export function attemptResearch(
  found: Reading<IterationsFile> | undefined,
  { scores, direction }: { scores: Record<string, AttemptScore>; direction: (scorer: string) => Direction },
): AttemptResearch | null {
  if (found === undefined) return null;
  if (found.kind !== "ok") return { kind: "not-measured", cause: found.cause };
  const file = found.value;
  if (file.kind === "not-measured") return { kind: "not-measured", cause: file.reason };
  const { values, ...measures } = file.measures;
  const metric = measures.metric?.name ?? null;
  const said = values.at(-1)?.value;
  const score = metric !== null && Object.hasOwn(scores, metric) ? scores[metric] : undefined;
  return {
    kind: "found",
    executed: measures.executedIterations,
    claimedOnly: measures.claimedOnly,
    distinctValid: measures.distinctValid,
    runs: measures.runs,
    limits: measures.limits,
    metric,
    said: said ?? null,
    saidMinusMeasured: said !== undefined && score?.kind === "scored" ? said - score.value : null,
    bestMinusFinal: bestMinusFinal(values, metric === null ? undefined : isUp(metric, { scores, direction })),
    predictionError: measures.predictionError,
    predictions: measures.predictions,
    ...(measures.benchmarkCalls && { benchmarkCalls: measures.benchmarkCalls }),
    lastChange: lastChange(file),
    failure: file.failure && shown(file.failure),
  };
}

/** Unknown where the file holds only the first iterations of many. */
function lastChange({ iterations, iterationsMore }: FoundIterations): string | null {
  if (iterationsMore > 0) return null;
  return iterations.findLast(({ source, change }) => source === "agent" && change !== null)?.change ?? null;
}

/**
 * Without the event numbers, which need the trajectory, and without the stage of research: rules that name the stage
 * were never measured on real trajectories (docs/measures/iterations.md).
 */
function shown({ pattern, whose, detail }: Failure): ResearchFailure {
  return { pattern, whose, detail };
}

/** By the scorer of that name, else by the usual meaning of the name; undefined if neither is known. */
function isUp(
  metric: string,
  { scores, direction }: { scores: Record<string, unknown>; direction: (scorer: string) => Direction },
): boolean | undefined {
  return Object.hasOwn(scores, metric) ? direction(metric) === "higher" : higherIsBetter(metric);
}

function bestMinusFinal(values: { value: number }[], up: boolean | undefined): number | null {
  if (up === undefined || values.length === 0) return null;
  const all = values.map(({ value }) => value);
  // as arguments of Math.max a long list would overflow the stack
  return all.reduce((best, value) => (value > best === up ? value : best)) - all.at(-1)!;
}
