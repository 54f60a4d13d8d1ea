// An attempt's research as the report has it. Formulas: docs/measures.md.
import type { IterationsFile } from "@mlrb/formats/attempt/iterations";
import type { Reading } from "@mlrb/formats/read-format";
import type { AttemptResearch } from "@mlrb/formats/report/attempt";

type FoundIterations = Extract<IterationsFile, { kind: "found" }>;

/** Null where the pipeline has no stage for iterations. Durations are in times.ts. */
export function attemptResearch(found: Reading<IterationsFile> | undefined): AttemptResearch | null {
  if (found === undefined) return null;
  if (found.kind !== "ok") return { kind: "not-measured", cause: found.cause };
  const file = found.value;
  if (file.kind === "not-measured") return { kind: "not-measured", cause: file.reason };
  const { measures } = file;
  return {
    kind: "found",
    executed: measures.executedIterations,
    distinctValid: measures.distinctValid,
    runs: measures.runs,
    limits: measures.limits,
    metric: measures.metric?.name ?? null,
    predictionError: measures.predictionError,
    predictions: measures.predictions,
    ...(measures.benchmarkCalls && { benchmarkCalls: measures.benchmarkCalls }),
    lastChange: lastChange(file),
    ends: file.ends,
  };
}

/** Unknown where the file holds only the first iterations of many. */
function lastChange({ iterations, iterationsMore }: FoundIterations): string | null {
  if (iterationsMore > 0) return null;
  return iterations.findLast(({ source, change }) => source === "agent" && change !== null)?.change ?? null;
}
