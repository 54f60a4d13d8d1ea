// What `report --from FILE --rescore N` prints. Pure.
import { unreachable } from "@mlrb/core/ports/outcome";
import { counted } from "@mlrb/core/text/counted";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Judged } from "./chosen-submissions.ts";

/** `host`: the value depends on the machine, so a difference is printed and not judged. */
export type RescoredScore = {
  metric: string;
  judged: Judged;
  host: boolean;
  /** Parts of the stage that differ from the bundle's, as words. */
  differs: string[];
};

/** For each attempt that handed the submission in. */
export type RescoredSubmission = {
  task: string;
  /** Its digest. */
  submission: string;
  attempt: Attempt;
  scores: RescoredScore[];
  /** Why nothing was scored. */
  problem?: string;
};

export type RescoreSums = { equal: number; within: number; beyond: number; host: number; missing: number };

/** `missing`: scores and submissions without a new score. */
export function rescoreSums(all: readonly RescoredSubmission[]): RescoreSums {
  const sums = { equal: 0, within: 0, beyond: 0, host: 0, missing: 0 };
  for (const { scores, problem } of all) {
    if (problem !== undefined) sums.missing += 1;
    for (const { judged, host } of scores) {
      if (judged.kind === "not-rescored") sums.missing += 1;
      // a score that became a rejection is no difference of machines
      else if (host && judged.kind === "beyond" && "difference" in judged) sums.host += 1;
      else sums[judged.kind] += 1;
    }
  }
  return sums;
}

export function submissionLines({
  task,
  submission,
  attempt,
  scores,
  problem,
}: RescoredSubmission): string[] {
  return [
    `${task}, ${attempt.agent}, seed ${attempt.seed}: submission ${submission.slice(0, 12)}`,
    ...(problem === undefined ? [] : [`  not rescored: ${problem}`]),
    ...scores.flatMap((score) => [
      `  ${score.metric}: ${judgedWords(score)}`,
      ...(score.differs.length > 0 ? [`    not as in the bundle: ${score.differs.join(", ")}`] : []),
    ]),
  ];
}

function judgedWords({ judged, host }: RescoredScore): string {
  if ("words" in judged) return judged.kind === "beyond" ? `${judged.words}: differs` : judged.words;
  const { published, rescored, difference } = judged;
  const both = `${published} in the bundle, ${rescored} now`;
  const signed = `${difference > 0 ? "+" : ""}${Number(difference.toPrecision(3))}`;
  switch (judged.kind) {
    case "equal":
      return `${published}, equal`;
    case "within":
      return `${both} (${signed}), within the tolerance`;
    case "beyond":
      return host
        ? `${both} (${signed}), not judged: it depends on the machine`
        : `${both} (${signed}), beyond the tolerance`;
    default:
      return unreachable(judged);
  }
}

export function sumsLine({ equal, within, beyond, host, missing }: RescoreSums, submissions: number): string {
  const parts = [
    `${equal} equal`,
    ...(within > 0 ? [`${within} within the tolerance`] : []),
    ...(host > 0 ? [`${host} not judged`] : []),
    `${beyond} beyond the tolerance`,
    `${missing} not rescored`,
  ];
  return `scores of ${counted(submissions, "submission")}: ${parts.join(", ")}`;
}
