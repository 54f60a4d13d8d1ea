// Asks a judge about trajectories whose right answers are known, and compares. How it asks is passed in.
import { hash } from "node:crypto";
import { judgeMeasures } from "@mlrb/core/statistics/judge-measures";
import { plainAnswers, type RubricQuestion } from "@mlrb/formats/declared/rubric";
import type { Answers } from "@mlrb/formats/judged/answers";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { JudgeCheck } from "@mlrb/formats/judged/judge-check";
import type { LabelledFile, LabelledTrajectory } from "@mlrb/formats/judged/labelled";
import { canonicalJson } from "@mlrb/kit/json-file";

/** The answers of one judge by one rubric about one extract. */
export type AskAbout = (asked: { extract: Extract; extractDigest: string }) => Promise<Answers>;

type Checked = { kind: "checked"; check: JudgeCheck } | { kind: "unusable"; causes: string[] };

/** Trajectories are asked about at the same time: `ask` limits its calls. Throws what `ask` throws. */
export async function checkJudge(
  { rubric, labelledBy, trajectories }: LabelledFile,
  asked: { rubric: string; questions: readonly RubricQuestion[]; ask: AskAbout },
): Promise<Checked> {
  const entries = asked.questions.flatMap(entriesOf);
  const causes = [
    ...(rubric === asked.rubric ? [] : [`the labels are of the rubric ${rubric}, not ${asked.rubric}`]),
    ...(trajectories.length === 0 ? ["there is no trajectory"] : []),
    ...trajectories.flatMap((one) => wrongLabels(one, entries)),
  ];
  if (causes.length > 0) return { kind: "unusable", causes };
  const extracts = trajectories.map(extractOf);
  const all = await Promise.all(
    extracts.map((extract) => asked.ask({ extract, extractDigest: hash("sha256", canonicalJson(extract)) })),
  );
  const found = all.map((answers, at) => compared(trajectories[at]!, answers, entries));
  return {
    kind: "checked",
    check: {
      ...headOf(all),
      labelledBy,
      questions: entries.map(({ id, ...closed }) => {
        const own = found.flatMap(({ heldOut, compared }) =>
          compared.flatMap(({ question, label, ...one }) =>
            question === id && label !== null ? [{ ...one, label, heldOut }] : [],
          ),
        );
        const heldOut = own.filter((one) => one.heldOut);
        return { id, all: judgeMeasures(own, closed), heldOut: judgeMeasures(heldOut, closed) };
      }),
      trajectories: found.map(({ id, heldOut, compared }) => ({
        ...{ id, heldOut },
        answers: compared.map(({ question, label, answer }) => ({ question, label, answer })),
      })),
    },
  };
}

type Entry = { id: string; answers: readonly string[]; unquoted: readonly string[] };

/** A question, or each of its parts. */
function entriesOf({ id, parts, answers = plainAnswers, unquoted = ["no"] }: RubricQuestion): Entry[] {
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

function compared({ id, heldOut, labels }: LabelledTrajectory, { questions }: Answers, entries: Entry[]) {
  const compared = entries.map(({ id: question }) => {
    const found = questions.find((one) => one.id === question);
    if (!found) throw new Error(`bug: no answer to ${question} about ${id}`);
    const { answer, votes } = found;
    const label = Object.hasOwn(labels, question) ? labels[question]! : null;
    return { question, label, answer, unanimous: new Set(votes.map((one) => one.answer)).size === 1 };
  });
  return { id, heldOut, compared };
}

/** How all of them were asked. They differ only in what the provider said of itself, and in costs. */
function headOf(all: readonly Answers[]): Omit<JudgeCheck, "labelledBy" | "questions" | "trajectories"> {
  const { formatVersion, rubric, judge, promptVersion, votes } = all[0]!;
  const costs = all.map(({ dollars }) => dollars);
  const days = all.flatMap(({ questions }) =>
    questions.flatMap((one) => one.votes.map(({ asked }) => asked)),
  );
  return {
    ...{ formatVersion, rubric, promptVersion, votes },
    judge: { ...judge, answeredBy: distinct(all.flatMap((one) => one.judge.answeredBy)) },
    dollars: costs.includes(null) ? null : costs.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    days: distinct(days),
  };
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)].sort();
}
