// Answers of judges that differ between two reports, side by side: another rubric, question, model or vote.
import type { Report } from "@mlrb/formats/report";
import { shortDigest } from "../sections/report-words.ts";
import { judgeTitle } from "./judge-words.ts";

export type AnswerChange = {
  /** Task, agent, seed, rubric and question. */
  about: string;
  /** `JUDGE (rubric DIGEST): ANSWER` of each judge; empty: not asked. */
  old: string[];
  now: string[];
};

export function answerChanges({ old, now }: { old: Report; now: Report }): AnswerChange[] {
  const [before, after] = [answersByQuestion(old), answersByQuestion(now)];
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((about) => {
    const change = { about, old: before.get(about) ?? [], now: after.get(about) ?? [] };
    return change.old.join("\n") === change.now.join("\n") ? [] : [change];
  });
}

export function answerChangeText({ old, now }: AnswerChange): string {
  const side = (answers: string[]) => (answers.length === 0 ? "not asked" : answers.join("; "));
  return `${side(old)} → ${side(now)}`;
}

function answersByQuestion({ judged }: Report): Map<string, string[]> {
  const all = (judged?.attempts ?? []).flatMap(({ task, agent, seed, answers }) =>
    answers.questions.map(({ id, answer }) => ({
      about: `${task}, ${agent} ${seed}, ${answers.rubric.name} ${id}`,
      given: `${judgeTitle(answers)} (${shortDigest(answers.rubric.digest)}): ${answer}`,
    })),
  );
  const groups = Map.groupBy(all, ({ about }) => about);
  return new Map([...groups].map(([about, own]) => [about, own.map(({ given }) => given).sort()]));
}
