// Asks a judge about trajectories whose right answers are known, and compares. How it asks is passed in.
import { hash } from "node:crypto";
import { type ClosedAnswers, judgeMeasures } from "@mlrb/core/statistics/judge-measures";
import { plainAnswers, plainUnquoted, type RubricQuestion } from "@mlrb/formats/declared/rubric";
import type { Answers } from "@mlrb/formats/judged/answers";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { JudgeCheck } from "@mlrb/formats/judged/judge-check";
import type { LabelledFile, LabelledTrajectory } from "@mlrb/formats/judged/labelled";
import { canonicalJson } from "@mlrb/kit/json-file";

/** The answers of one judge by one rubric about one extract. */
export type AskAbout = (asked: { extract: Extract; extractDigest: string }) => Promise<Answers>;

/** All trajectories are asked about at once, so `ask` limits its calls. Throws what `ask` throws. */
export async function checkJudge(
  { rubric, labelledBy, trajectories }: LabelledFile,
  asked: { rubric: string; questions: readonly RubricQuestion[]; ask: AskAbout },
): Promise<{ kind: "checked"; check: JudgeCheck } | { kind: "unusable"; causes: string[] }> {
  const entries = asked.questions.flatMap(entriesOf);
  const causes = [
    ...(rubric === asked.rubric ? [] : [`the labels are of the rubric ${rubric}, not ${asked.rubric}`]),
    ...(trajectories.length === 0 ? ["there is no trajectory"] : []),
    ...trajectories.flatMap((one) => wrongLabels(one, entries)),
  ];
  if (causes.length > 0) return { kind: "unusable", causes };
  const all = await Promise.all(trajectories.map((one) => asked.ask(withDigest(extractOf(one)))));
  const answers = all.flatMap((given, at) =>
    entries.map(({ id }) => comparedAnswer(trajectories[at]!, given, id)),
  );
  const measures = entries.flatMap(({ id: question, ...closed }) =>
    [false, true].flatMap((heldOut) => {
      const own = answers.filter((one) => one.question === question && (one.heldOut || !heldOut));
      return judgeMeasures(own, closed).map((one) => ({ question, heldOut, ...one }));
    }),
  );
  return { kind: "checked", check: { ...headOf(all), labelledBy, measures, answers } };
}

type Entry = ClosedAnswers & { id: string };

/** A question, or each of its parts. */
function entriesOf({ id, parts, answers = plainAnswers, unquoted = plainUnquoted }: RubricQuestion): Entry[] {
  const ids = parts?.map((part) => `${id}.${part}`) ?? [id];
  return ids.map((one) => ({ id: one, answers, unquoted }));
}

function wrongLabels({ id, labels }: LabelledTrajectory, entries: readonly Entry[]): string[] {
  return Object.entries(labels).flatMap(([question, label]) => {
    const entry = entries.find((one) => one.id === question);
    if (!entry) return [`${id}: the rubric has no question "${question}"`];
    if (entry.answers.includes(label)) return [];
    return [`${id}: "${label}" is no answer of ${question} (${entry.answers.join(", ")})`];
  });
}

function extractOf({ events, leftOut = { events: 0, characters: 0 } }: LabelledTrajectory): Extract {
  return { formatVersion: 1, events: events.map((one, at) => ({ number: at + 1, ...one })), leftOut };
}

function withDigest(extract: Extract) {
  return { extract, extractDigest: hash("sha256", canonicalJson(extract)) };
}

function comparedAnswer({ id, heldOut, labels }: LabelledTrajectory, given: Answers, question: string) {
  const found = given.questions.find((one) => one.id === question);
  if (!found) throw new Error(`bug: no answer to ${question} about ${id}`);
  const label = Object.hasOwn(labels, question) ? labels[question]! : null;
  const unanimous = new Set(found.votes.map(({ answer }) => answer)).size === 1;
  return { trajectory: id, heldOut, question, label, answer: found.answer, unanimous };
}

/** How all of them were asked. They differ only in what the provider said of itself, and in costs. */
function headOf(all: readonly Answers[]): Omit<JudgeCheck, "labelledBy" | "measures" | "answers"> {
  const { extract: _, questions: __, judge, ...head } = all[0]!;
  const distinct = (texts: string[]) => [...new Set(texts)].sort();
  const costs = all.map(({ dollars }) => dollars);
  const votes = all.flatMap(({ questions }) => questions.flatMap((one) => one.votes));
  return {
    ...head,
    judge: { ...judge, answeredBy: distinct(all.flatMap((one) => one.judge.answeredBy)) },
    dollars: costs.includes(null) ? null : costs.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    days: distinct(votes.map(({ asked }) => asked)),
  };
}
