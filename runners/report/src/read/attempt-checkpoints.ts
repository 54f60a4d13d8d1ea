// An attempt's intermediate checkpoints: its submission at each planned share of the budget, and last the final
// one.

import type { Reading } from "@mlrb/formats/read-format";
import type { Attempt, AttemptCheckpoint, AttemptScore, CheckpointScore } from "@mlrb/formats/report/attempt";
import { checkpointShare } from "@mlrb/kit/attempts/checkpoint-share";
import { plainText } from "./plain-text.ts";

type CheckpointEvidence = {
  checkpoint: string;
  submission: string | null;
  stood: Reading<Exclude<AttemptCheckpoint["admission"], { kind: "missing" }>>;
  scoreOf: (scorer: string) => Reading<AttemptScore>;
};

/** In order of their shares; empty where none was planned. A checkpoint without a share is left out: its stage fails. */
export function attemptCheckpoints(
  attempt: Omit<Attempt, "checkpoints">,
  found: CheckpointEvidence[],
): AttemptCheckpoint[] {
  const { verdict, submission } = attempt;
  const scorers = Object.keys(attempt.scores);
  const checkpoints = found.flatMap(({ checkpoint, submission, stood, scoreOf }): AttemptCheckpoint[] => {
    const share = checkpointShare(checkpoint);
    if (share === undefined) return [];
    const known: typeof stood =
      verdict.kind === "missing" ? { kind: "unreadable", cause: verdict.cause } : stood;
    const admission: AttemptCheckpoint["admission"] =
      known.kind === "ok" ? known.value : { kind: "missing", cause: known.cause };
    const scores = scorers.map((scorer): [string, CheckpointScore] => {
      const found = scoreOf(scorer); // in any case: an unreadable score is a gap
      const score = known.kind === "ok" ? found : known;
      return [
        scorer,
        score.kind === "ok" ? short(score.value) : { kind: "not-measured", cause: score.cause },
      ];
    });
    return [
      { checkpoint: plainText(checkpoint), share, submission, admission, scores: Object.fromEntries(scores) },
    ];
  });
  if (checkpoints.length === 0) return [];
  const scores = Object.entries(attempt.scores).map(([scorer, score]) => [scorer, short(score)] as const);
  const end: AttemptCheckpoint = {
    checkpoint: "100%",
    share: 1,
    submission,
    admission: admissionOf(attempt),
    scores: Object.fromEntries(scores),
  };
  return [...checkpoints.sort((a, b) => a.share - b.share), end];
}

/** Of the final submission; scorers have the reason why it may not be loaded. */
function admissionOf({ verdict, scores }: Omit<Attempt, "checkpoints">): AttemptCheckpoint["admission"] {
  if (verdict.kind === "missing") return { kind: "missing", cause: verdict.cause };
  if (verdict.kind !== "rejected") return { kind: "admitted" };
  const rejection = Object.values(scores).find((score) => score.kind === "rejected");
  return {
    kind: "rejected",
    why: rejection ? rejection.reason.replace(/^not admitted: /, "") : "not admitted",
  };
}

/** Without its parts, which only the final score shows. */
function short(score: AttemptScore): CheckpointScore {
  if (score.kind !== "scored") return score;
  const { kind, value, standardError } = score;
  return { kind, value, standardError };
}
