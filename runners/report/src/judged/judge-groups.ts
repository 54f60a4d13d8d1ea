// Groups the answers about attempts by their judge, each with its check on labelled trajectories if it has one.
import type { JudgeCheck, Measures } from "@mlrb/formats/judged/judge-check";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { JudgedAttempt } from "@mlrb/formats/report/judged";
import { type AskedJudge, judgeKey, judgeTitle } from "./judge-words.ts";

type Place = Pick<Attempt, "task" | "agent" | "seed">;

export type JudgeGroup = {
  title: string;
  /** With every snapshot that answered about an attempt. */
  asked: AskedJudge;
  days: string[];
  attempts: JudgedAttempt[];
  check: JudgeCheck | undefined;
};

/** A check of other settings, or without a snapshot that answered here, is none of this judge. */
export function judgeGroups(judged: readonly JudgedAttempt[], checks: readonly JudgeCheck[]): JudgeGroup[] {
  const groups = [...Map.groupBy(judged, ({ answers }) => judgeKey(answers))];
  return groups
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, attempts]) => {
      const { rubric, judge, promptVersion, votes } = attempts[0]!.answers;
      const answeredBy = distinct(attempts.flatMap(({ answers }) => answers.judge.answeredBy));
      const asked = { rubric, judge: { ...judge, answeredBy }, promptVersion, votes };
      const all = attempts.flatMap(({ answers }) => answers.questions.flatMap((one) => one.votes));
      const check = checks.find(
        (one) => judgeKey(one) === key && answeredBy.every((name) => one.judge.answeredBy.includes(name)),
      );
      const days = distinct(all.map((one) => one.asked));
      return { title: judgeTitle(asked), asked, days, attempts, check };
    });
}

/** What held-out trajectories say of a question, with open answers; undefined if the judge was not checked on any. */
export function heldOutOf({ check }: JudgeGroup, question: string): Measures | undefined {
  const all = check?.measures.filter((one) => one.question === question && one.heldOut && one.openCounted);
  return all?.find(({ labelled }) => labelled > 0);
}

/** For `marks` of an attempt, before decisions of people: the questions whose answer marks it, by judge. */
export function marksOf(groups: readonly JudgeGroup[], { task, agent, seed }: Place) {
  return groups.flatMap(({ title, asked: { rubric }, attempts }) => {
    const own = attempts.filter((one) => one.task === task && one.agent === agent && one.seed === seed);
    const all = own.flatMap(({ answers }) => answers.questions.filter(({ marks }) => marks));
    return all.length === 0 ? [] : [{ judge: title, questions: all.map(({ id }) => `${rubric.name}.${id}`) }];
  });
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)].sort();
}
