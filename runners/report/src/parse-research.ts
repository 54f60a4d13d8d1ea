// iterations.json of an attempt, from text to what the report tells of it.
import {
  asArray,
  asNumber,
  asObject,
  asOneOf,
  asText,
  type Fields,
  type Parsed,
  parsed,
  parseObject,
} from "./parsed.ts";

export type FoundResearch =
  | { kind: "not-measured"; cause: string }
  | {
      kind: "found";
      executed: number;
      claimedOnly: number;
      /** Null: no snapshot was one that can be loaded. */
      firstValidMs: number | null;
      metric: string | null;
      values: { value: number; sinceStartMs: number }[];
      predictionError: number | null;
      predictions: number;
      failure: ResearchFailure | null;
    };

export type ResearchFailure = { pattern: string; whose: string; where: string; detail: string };

export function parseResearch(text: string): Parsed<FoundResearch> {
  return parsed(() => {
    const fields = parseObject(text);
    if (asOneOf(fields.kind, "kind", ["found", "not-measured"]) === "not-measured")
      return { kind: "not-measured", cause: asText(fields.reason, "reason") };
    const measures = asObject(fields.measures, "measures");
    const { metric, values } = measures;
    return {
      kind: "found",
      executed: asNumber(measures.executedIterations, "executedIterations", 0),
      claimedOnly: asNumber(measures.claimedOnly, "claimedOnly", 0),
      firstValidMs: orNull(measures.firstValidMs, "firstValidMs"),
      metric: metric === null ? null : asText(asObject(metric, "metric").name, "metric.name"),
      values: asArray(values, "values").map((each, at) => {
        const { value, sinceStartMs } = asObject(each, `values.${at}`);
        return {
          value: asNumber(value, `values.${at}.value`),
          sinceStartMs: asNumber(sinceStartMs, `values.${at}.sinceStartMs`, 0),
        };
      }),
      predictionError: orNull(measures.predictionError, "predictionError"),
      predictions: asNumber(measures.predictions, "predictions", 0),
      failure: fields.failure === null ? null : failure(asObject(fields.failure, "failure")),
    };
  });
}

function orNull(value: unknown, what: string): number | null {
  return value === null ? null : asNumber(value, what, 0);
}

function failure({ pattern, whose, where, detail }: Fields): ResearchFailure {
  return {
    pattern: asText(pattern, "failure.pattern"),
    whose: asText(whose, "failure.whose"),
    where: asText(where, "failure.where"),
    detail: asText(detail, "failure.detail"),
  };
}
