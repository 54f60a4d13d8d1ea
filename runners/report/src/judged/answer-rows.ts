// Rows of answers.csv.
import type { Report } from "@mlrb/formats/report";
import type { ResultRow } from "@mlrb/formats/report/result-tables";
import { headOf, textOrNull } from "../formats/row-parts.ts";

export function answerRows(report: Report): ResultRow<"answers">[] {
  return (report.judged?.attempts ?? []).flatMap(({ task, agent, seed, answers }) =>
    answers.questions.map(({ id: question, answer, marks, votes }) => {
      const byAnswer = Map.groupBy(votes, (one) => one.answer);
      const quotes = votes
        .flatMap((one) => one.quotes)
        .filter(({ found, supports }) => found && supports === true);
      return {
        ...headOf(report),
        ...{ task, agent, seed, question, answer, marks },
        judge: `${answers.judge.provider}/${answers.judge.id}`,
        rubric: answers.rubric.name,
        votes: [...byAnswer].map(([given, { length }]) => `${length} ${given}`).join(", "),
        quotes: quotes.length,
        answered_by: textOrNull(answers.judge.answeredBy.join(" ")),
        rubric_digest: answers.rubric.digest,
      };
    }),
  );
}
