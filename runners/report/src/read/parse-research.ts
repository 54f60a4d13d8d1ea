// From the text of an attempt's iterations.json to the part that the report shows.
import { iterationsFile } from "@mlrb/formats/attempt/iterations";
import type { Reading } from "@mlrb/formats/read-format";
import type { ResearchFailure } from "@mlrb/formats/report/attempt";
import { readPlain } from "./read-plain.ts";

export type FoundResearch =
  | { kind: "not-measured"; cause: string }
  | {
      kind: "found";
      executed: number;
      claimedOnly: number;
      firstValidMs: number | null;
      metric: string | null;
      values: { value: number; sinceStartMs: number }[];
      predictionError: number | null;
      predictions: number;
      failure: ResearchFailure | null;
    };

export function parseResearch(text: string): Reading<FoundResearch> {
  const reading = readPlain(iterationsFile, text);
  if (reading.kind === "unreadable") return reading;
  const file = reading.value;
  if (file.kind === "not-measured")
    return { kind: "ok", value: { kind: "not-measured", cause: file.reason } };
  const { measures, failure } = file;
  const value: FoundResearch = {
    kind: "found",
    executed: measures.executedIterations,
    claimedOnly: measures.claimedOnly,
    firstValidMs: measures.firstValidMs,
    metric: measures.metric?.name ?? null,
    values: measures.values,
    predictionError: measures.predictionError,
    predictions: measures.predictions,
    failure: failure && shown(failure),
  };
  return { kind: "ok", value };
}

/** Without the event numbers, which need the trajectory. */
function shown({ evidence: _, ...failure }: ResearchFailure & { evidence: number[] }): ResearchFailure {
  return failure;
}
