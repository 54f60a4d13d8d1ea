// How an attempt enters the mean of one metric.
import type { Attempt } from "@mlrb/formats/report/attempt";

export type Counting =
  | { kind: "valid"; value: number }
  | { kind: "failed"; because: "struck" | "rejected" }
  | { kind: "missing"; cause: string };

export function counting(attempt: Attempt, metric: string): Counting {
  const score = attempt.scores[metric]!;
  if (attempt.verdict.kind === "struck") return { kind: "failed", because: "struck" };
  if (attempt.verdict.kind === "rejected" || score.kind === "rejected") {
    return { kind: "failed", because: "rejected" };
  }
  if (attempt.verdict.kind === "missing") return { kind: "missing", cause: attempt.verdict.cause };
  if (score.kind === "not-measured") return { kind: "missing", cause: score.cause };
  return { kind: "valid", value: score.value };
}
