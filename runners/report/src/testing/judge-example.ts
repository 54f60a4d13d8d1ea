// A judge that was checked on five trajectories, and its answers about attempts.
import { judgeMeasures } from "@mlrb/core/statistics/judge-measures";
import type { Answers } from "@mlrb/formats/judged/answers";
import type { JudgeCheck } from "@mlrb/formats/judged/judge-check";

export const judgeOf = {
  rubric: { name: "leaks", digest: "ab".repeat(32) },
  judge: {
    ...{ provider: "local", id: "small", family: "llama", temperature: 0 },
    answeredBy: ["small-2026-11"],
  },
  ...{ promptVersion: 1, votes: 3 },
};

const closed = {
  copied: { answers: ["yes", "no"], unquoted: ["no"] },
  effort: { answers: ["none", "some", "much"], unquoted: ["none"] },
};

export type Labelled = {
  trajectory: string;
  heldOut: boolean;
  question: keyof typeof closed;
  label: string | null;
  answer: string;
};

export function checkOf(labelled: readonly Labelled[], asked = judgeOf): JudgeCheck {
  const answers = labelled.map((one) => ({ ...one, unanimous: one.answer !== "split" }));
  const measured = (id: keyof typeof closed, heldOut: boolean) =>
    judgeMeasures(
      answers.filter((one) => one.question === id && (one.heldOut || !heldOut)),
      closed[id],
    );
  return {
    ...{ formatVersion: 1, ...asked, days: ["2026-11-30"], labelledBy: "Ada", dollars: 0.25 },
    measures: (["copied", "effort"] as const).flatMap((question) =>
      [false, true].flatMap((heldOut) =>
        measured(question, heldOut).map((one) => ({ question, heldOut, ...one })),
      ),
    ),
    answers,
  };
}

/** Its false-alarm rate on held-out trajectories is 1 of 2. */
export const checkedJudge = (asked = judgeOf) =>
  checkOf(
    [
      { trajectory: "a", heldOut: false, question: "copied", label: "yes", answer: "yes" },
      { trajectory: "a", heldOut: false, question: "effort", label: "some", answer: "much" },
      { trajectory: "b", heldOut: false, question: "copied", label: "no", answer: "split" },
      { trajectory: "c", heldOut: true, question: "copied", label: "no", answer: "yes" },
      { trajectory: "d", heldOut: true, question: "copied", label: "no", answer: "no" },
      { trajectory: "e", heldOut: true, question: "copied", label: "yes", answer: "unsupported" },
      { trajectory: "f", heldOut: true, question: "copied", label: null, answer: "no" },
    ],
    asked,
  );

/** Answers with one vote each; an answer is its question's, and `yes` marks. */
export function answersOf(byQuestion: Record<string, string>, asked = judgeOf): Answers {
  return {
    ...{ formatVersion: 1, extract: "0".repeat(64), ...asked, dollars: null },
    questions: Object.entries(byQuestion).map(([id, answer]) => ({
      ...{ id, answer, marks: answer === "yes" },
      votes: [
        {
          ...{ vote: 1, answer, said: answer, reasons: "Because of event 3.", readAll: true },
          ...{
            asked: "2026-11-30",
            quotes: [{ event: 3, text: "cp test.jsonl", found: true, supports: true }],
          },
        },
      ],
    })),
  };
}
