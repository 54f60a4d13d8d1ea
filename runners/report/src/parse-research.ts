// iterations.json of an attempt, from text to what the report tells of it.
import type { Reading } from "@mlrb/formats/read-format";
import { type ResearchFailure, researchFailure } from "@mlrb/formats/report/attempt";
import { anyText, count, kindsOf, listOf, nullable, number, wholeObject } from "@mlrb/formats/schema";
import { readPlain } from "./read-plain.ts";

const atLeastNone = { type: ["number", "null"], minimum: 0 } as const;

const measures = wholeObject({
  executedIterations: count,
  claimedOnly: count,
  firstValidMs: { ...atLeastNone, description: "null: no snapshot could be loaded" },
  metric: nullable(wholeObject({ name: anyText })),
  values: listOf(wholeObject({ value: number, sinceStartMs: { ...number, minimum: 0 } })),
  predictionError: atLeastNone,
  predictions: count,
});

/** The part of iterations.json that the report shows; core/iterations-schema.ts has all of it. */
const shownPart = kindsOf(
  { formatVersion: { const: 1 } },
  ["formatVersion"],
  [
    wholeObject({ kind: { const: "found" }, measures, failure: nullable(researchFailure) }),
    wholeObject({ kind: { const: "not-measured" }, reason: anyText }),
  ],
);

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
  const reading = readPlain(shownPart, text);
  if (reading.kind === "unreadable") return reading;
  const found = reading.value;
  if (found.kind === "not-measured")
    return { kind: "ok", value: { kind: "not-measured", cause: found.reason } };
  const { executedIterations: executed, metric, ...measured } = found.measures;
  const value = {
    kind: found.kind,
    executed,
    metric: metric?.name ?? null,
    ...measured,
    failure: found.failure,
  };
  return { kind: "ok", value };
}
