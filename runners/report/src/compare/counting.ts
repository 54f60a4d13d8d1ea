// How an attempt enters the mean of one metric.
import { isUndisturbed } from "@mlrb/formats/declared/intervention";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { interventionText } from "../read/attempt-marks.ts";

export type Counting =
  | { kind: "valid"; value: number }
  | { kind: "failed"; because: "disqualified" | "rejected" }
  | { kind: "missing"; cause: string };

/** An attempt that a person extended is left out of means, tests and n. */
export function counting(attempt: Attempt, metric: string): Counting {
  if (!isUndisturbed(attempt)) return { kind: "missing", cause: interventionText(attempt) };
  return asUndisturbed(attempt, metric);
}

/** The same without regard to what people did to the attempt. */
export function asUndisturbed(attempt: Attempt, metric: string): Counting {
  const score = attempt.scores[metric]!;
  if (attempt.verdict.kind === "disqualified") return { kind: "failed", because: "disqualified" };
  if (attempt.verdict.kind === "rejected" || score.kind === "rejected") {
    return { kind: "failed", because: "rejected" };
  }
  if (attempt.verdict.kind === "missing") return { kind: "missing", cause: attempt.verdict.cause };
  if (score.kind === "not-measured") return { kind: "missing", cause: score.cause };
  return { kind: "valid", value: score.value };
}
