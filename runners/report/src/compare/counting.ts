// How an attempt enters the mean of one metric, and how an intermediate checkpoint would if the attempt had ended
// there. Rules are judged on the final submission only, so a disqualified attempt is disqualified at every checkpoint.
import { isUndisturbed } from "@mlrb/formats/declared/intervention";
import type { Attempt, AttemptCheckpoint } from "@mlrb/formats/report/attempt";
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

export type CheckpointCounting =
  | { kind: "valid"; value: number }
  | { kind: "failed"; because: "disqualified" | "rejected" | "none"; why: string }
  | { kind: "missing"; cause: string };

export function checkpointCounting(
  attempt: Attempt,
  { admission, scores, share }: AttemptCheckpoint,
  metric: string,
): CheckpointCounting {
  if (share === 1) {
    const way = counting(attempt, metric);
    return way.kind === "failed" ? { ...way, why: whyOf(admission, scores[metric]) } : way;
  }
  const left = interventionText(attempt);
  if (left !== "") return { kind: "missing", cause: left };
  if (admission.kind !== "missing" && attempt.verdict.kind === "disqualified")
    return { kind: "failed", because: "disqualified", why: "" };
  const score = scores[metric];
  switch (admission.kind) {
    case "missing":
      return { kind: "missing", cause: admission.cause };
    case "none":
      return { kind: "failed", because: "none", why: "" };
    case "rejected":
      return { kind: "failed", because: "rejected", why: admission.why };
    case "admitted":
      if (score?.kind === "scored") return { kind: "valid", value: score.value };
      if (score?.kind === "rejected") return { kind: "failed", because: "rejected", why: score.reason };
      return { kind: "missing", cause: score?.cause ?? "not planned" };
  }
}

function whyOf(
  admission: AttemptCheckpoint["admission"],
  score: AttemptCheckpoint["scores"][string] | undefined,
): string {
  if (admission.kind === "rejected") return admission.why;
  return score?.kind === "rejected" ? score.reason : "";
}

/** Whether a checkpoint differs from the final submission; otherwise it adds no information. */
export function changedOverTime({ checkpoints, submission }: Attempt): boolean {
  return checkpoints.some(
    (checkpoint) => checkpoint.submission !== null && checkpoint.submission !== submission,
  );
}
