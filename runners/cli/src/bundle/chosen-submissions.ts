// Which submissions of a bundle are scored again, and how a new score is judged. Pure.
import { createHash } from "node:crypto";
import { unreachable } from "@mlrb/core/ports/outcome";
import type { Report } from "@mlrb/formats/report";
import type { Attempt, AttemptScore } from "@mlrb/formats/report/attempt";

export type PublishedSubmission = {
  task: string;
  /** Its digest. */
  submission: string;
  /** All that handed it in and have a score. They share one score, but each one's published scores are judged. */
  attempts: Attempt[];
};

/**
 * `count` submissions of the report, each once for a task, in an order that the seed decides; fewer if there are fewer.
 * Submissions without a score are left out.
 */
export function chosenSubmissions(
  { attempts }: Pick<Report, "attempts">,
  { count, seed }: { count: number; seed: string },
): { chosen: PublishedSubmission[]; published: number } {
  const all = new Map<string, PublishedSubmission>();
  for (const attempt of attempts) {
    const { task, submission, scores } = attempt;
    const isScored = Object.values(scores).some(({ kind }) => kind !== "not-measured");
    if (submission === null || !isScored) continue;
    const name = `${task}\0${submission}`;
    const shared = all.get(name);
    if (shared) shared.attempts.push(attempt);
    else all.set(name, { task, submission, attempts: [attempt] });
  }
  const rank = (name: string) => createHash("sha256").update(`${seed}\0${name}`).digest("hex");
  const ordered = [...all]
    .map(([name, one]) => ({ one, rank: rank(name) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return { chosen: ordered.slice(0, count).map(({ one }) => one), published: all.size };
}

/** What `compare` returns for each published score of each attempt; nothing for a score that was not measured. */
export function comparedAttempts<T>(
  { task, submission, attempts }: PublishedSubmission,
  compare: (metric: string, published: AttemptScore, attempt: Attempt) => T,
): { task: string; submission: string; attempt: Attempt; scores: T[] }[] {
  return attempts.map((attempt) => ({
    ...{ task, submission, attempt },
    scores: Object.entries(attempt.scores).flatMap(([metric, published]) =>
      published.kind === "not-measured" ? [] : [compare(metric, published, attempt)],
    ),
  }));
}

export type Judged =
  | { kind: "equal" | "within" | "beyond"; published: number; rescored: number; difference: number }
  /** One of them has no value, or both were rejected. */
  | { kind: "equal" | "beyond"; words: string }
  /** There is nothing to compare. */
  | { kind: "not-rescored"; words: string };

/** `tolerance`: a share of the larger absolute value of the two. */
export function judgedScore(published: AttemptScore, rescored: AttemptScore, tolerance: number): Judged {
  if (rescored.kind === "not-measured")
    return { kind: "not-rescored", words: `not measured: ${rescored.cause}` };
  if (published.kind === "scored" && rescored.kind === "scored") {
    const [from, to] = [published.value, rescored.value];
    const difference = to - from;
    const most = tolerance * Math.max(Math.abs(from), Math.abs(to));
    // not finite: neither equal nor near
    const kind = difference === 0 ? "equal" : Math.abs(difference) <= most ? "within" : "beyond";
    return { kind, published: from, rescored: to, difference };
  }
  const words = `${kindWords(published)}, now ${kindWords(rescored)}`;
  return { kind: published.kind === rescored.kind ? "equal" : "beyond", words };
}

function kindWords(score: AttemptScore): string {
  switch (score.kind) {
    case "scored":
      return String(score.value);
    case "rejected":
      return "rejected";
    case "not-measured":
      return "not measured";
    default:
      return unreachable(score);
  }
}
