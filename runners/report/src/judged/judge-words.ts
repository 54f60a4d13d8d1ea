// How a judge was asked, in words that stand beside every number of it. Judges of different models, rubrics or
// settings are shown apart and never averaged: their errors differ.
import { counted } from "@mlrb/core/text/counted";
import type { Answers } from "@mlrb/formats/judged/answers";
import type { Rate } from "@mlrb/formats/judged/judge-check";
import { listText, shortDigest } from "../sections/report-words.ts";
import { type TableCell, textCell } from "../sections/table.ts";
import { noNumber } from "../sections/table-of.ts";

export type AskedJudge = Pick<Answers, "rubric" | "judge" | "promptVersion" | "votes">;

/** Equal for answers that are of one judge. Snapshots are not in it: a provider changes them by itself. */
export function judgeKey({ judge, rubric, promptVersion, votes }: AskedJudge): string {
  const { provider, id, temperature } = judge;
  return JSON.stringify([provider, id, temperature, rubric.name, rubric.digest, promptVersion, votes]);
}

export function judgeTitle({ judge, rubric, votes }: AskedJudge): string {
  const heat = judge.temperature === null ? "" : ` at ${judge.temperature}`;
  return `${judge.provider}/${judge.id}${heat}, rubric ${rubric.name}, ${counted(votes, "vote")}`;
}

export const votesCaption = "Votes of one model measure repeatability, not truth.";

/** `days`: on which the provider answered. */
export function judgeFacts(asked: AskedJudge, days: readonly string[]): string {
  const { judge, rubric, promptVersion, votes } = asked;
  const snapshots = judge.answeredBy.length === 0 ? "no named snapshot" : listText(judge.answeredBy);
  const heat = judge.temperature ?? "of the provider";
  const when = days.length === 0 ? "on unknown days" : `on ${listText(days)}`;
  const settings = `rubric digest ${shortDigest(rubric.digest)}, prompt version ${promptVersion}`;
  return `answered by ${snapshots}, temperature ${heat}, ${when}, ${settings}, ${counted(votes, "vote")}`;
}

/** The share, and below it the interval. */
export function rateCell(rate: Rate | undefined): TableCell {
  if (!rate) return noNumber;
  const { count, of, low, high } = rate;
  return { lines: [(count / of).toFixed(2), `${low.toFixed(2)}–${high.toFixed(2)}`] };
}

export function shareCell(rate: Rate | undefined): TableCell {
  return rate ? textCell(`${rate.count} of ${rate.of}`) : noNumber;
}
