// Marks of judges after people's decisions. A decision on a question is a decision on the rule RUBRIC.QUESTION, in
// marks too. It takes a mark away or confirms it, and changes no verdict, because no verdict has such a rule.
import type { MemberDecision } from "@mlrb/formats/attempt/adjudication";
import type { Attempt } from "@mlrb/formats/report/attempt";

type Marks = NonNullable<Attempt["marks"]>;

/** Stands in place of a judge in the marks that a person confirmed or added. */
export const byPerson = "a person";

/** The name of a task's own rule has no dot. */
export function isQuestionRule(rule: string): boolean {
  return rule.includes(".");
}

/** A `pass` that counts takes the question's marks away; a `fail` that counts marks as a person. */
export function decidedMarks(
  marks: Marks,
  decisions: readonly Pick<MemberDecision, "rule" | "verdict" | "counts">[],
): Marks {
  const { pass = [], fail = [] } = Object.groupBy(
    decisions.filter(({ rule, counts }) => counts && isQuestionRule(rule)),
    ({ verdict }) => verdict,
  );
  const isLeft = (question: string) => !pass.some(({ rule }) => rule === question);
  const left = marks.map((one) => ({ ...one, questions: one.questions.filter(isLeft) }));
  const confirmed = { judge: byPerson, questions: fail.map(({ rule }) => rule) };
  return [...left, confirmed].filter(({ questions }) => questions.length > 0);
}
