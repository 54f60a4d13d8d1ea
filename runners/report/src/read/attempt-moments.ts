// An attempt over time: what stood at each planned share of its budget, and last what it handed in.

import type { Reading } from "@mlrb/formats/read-format";
import type { Attempt, AttemptMoment, AttemptScore, MomentScore } from "@mlrb/formats/report/attempt";
import { momentShare } from "@mlrb/kit/attempts/moment-share";
import { plainText } from "./plain-text.ts";

type MomentEvidence = {
  moment: string;
  submission: string | null;
  stood: Reading<Exclude<AttemptMoment["admission"], { kind: "missing" }>>;
  scoreOf: (scorer: string) => Reading<AttemptScore>;
};

/** In order of their shares; nothing where nothing was planned. A moment that names no share is the stage's failure. */
export function attemptMoments(attempt: Omit<Attempt, "moments">, found: MomentEvidence[]): AttemptMoment[] {
  const { verdict, submission } = attempt;
  const scorers = Object.keys(attempt.scores);
  const moments = found.flatMap(({ moment, submission, stood, scoreOf }): AttemptMoment[] => {
    const share = momentShare(moment);
    if (share === undefined) return [];
    const missing =
      verdict.kind === "missing" ? verdict.cause : stood.kind === "ok" ? undefined : stood.cause;
    return [
      {
        moment: plainText(moment),
        share,
        submission,
        admission:
          stood.kind === "ok" && missing === undefined
            ? stood.value
            : { kind: "missing", cause: missing ?? "" },
        scores: Object.fromEntries(
          scorers.map((scorer): [string, MomentScore] => {
            const score = scoreOf(scorer);
            if (missing !== undefined) return [scorer, { kind: "not-measured", cause: missing }];
            return [
              scorer,
              score.kind === "ok" ? short(score.value) : { kind: "not-measured", cause: score.cause },
            ];
          }),
        ),
      },
    ];
  });
  if (moments.length === 0) return [];
  const scores = Object.entries(attempt.scores).map(([scorer, score]) => [scorer, short(score)] as const);
  const end: AttemptMoment = {
    moment: "100%",
    share: 1,
    submission,
    admission: admissionOf(attempt),
    scores: Object.fromEntries(scores),
  };
  return [...moments.sort((a, b) => a.share - b.share), end];
}

/** Of what was handed in: scorers say why it may not be loaded. */
function admissionOf({ verdict, scores }: Omit<Attempt, "moments">): AttemptMoment["admission"] {
  if (verdict.kind === "missing") return { kind: "missing", cause: verdict.cause };
  if (verdict.kind !== "rejected") return { kind: "admitted" };
  const told = Object.values(scores).find((score) => score.kind === "rejected");
  return { kind: "rejected", why: told ? told.reason.replace(/^not admitted: /, "") : "not admitted" };
}

/** Without its parts, which the final score alone shows. */
function short(score: AttemptScore): MomentScore {
  if (score.kind !== "scored") return score;
  const { kind, value, standardError } = score;
  return { kind, value, standardError };
}
