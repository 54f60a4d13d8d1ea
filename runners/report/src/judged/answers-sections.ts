// What judges answered about attempts: by agent, with the marked attempts, and by the families of agent and judge.
// A rate stands beside the judge's false alarms on trajectories whose right answer is known, or is not printed.
import { rateOf } from "@mlrb/core/statistics/judge-measures";
import { openAnswers } from "@mlrb/formats/declared/rubric";
import type { Report } from "@mlrb/formats/report";
import { grouped } from "../sections/report-words.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "../sections/table-of.ts";
import { heldOutOf, type JudgeGroup, judgeGroups } from "./judge-groups.ts";
import { judgeFacts, rateCell, votesCaption } from "./judge-words.ts";

/** Empty without a judge. */
export function judgedSections({ judged, attempts }: Pick<Report, "judged" | "attempts">): Section[] {
  if (!judged) return [];
  const groups = judgeGroups(judged.attempts, judged.checks);
  return [answersSection(groups, attempts), familiesSection(groups)];
}

export const notChecked = "not printed: this judge was not checked";

type Given = JudgeGroup["attempts"][number] & { group: JudgeGroup; question: string; answer: string };

/** All answers to a question about the attempts that share a key, question by question. */
function rowsOf(groups: readonly JudgeGroup[], key: (one: Given) => string): Given[][] {
  const all = groups.flatMap((group) =>
    group.attempts.flatMap((attempt) =>
      attempt.answers.questions.map(({ id: question, answer }) => ({ ...attempt, group, question, answer })),
    ),
  );
  return grouped(all, ({ question }) => [question]).flatMap((same) => grouped(same, (one) => [key(one)]));
}

const question = column("question", ([one]: Given[]) => one!.question);

type Marked = Pick<Report["attempts"][number], "task" | "agent" | "seed" | "marks">;

/** `attempts`: with their marks after decisions of people. */
export function answersSection(groups: readonly JudgeGroup[], attempts: readonly Marked[]): Section {
  return {
    heading: "Answers of judges",
    caption:
      "A judge disqualifies nothing: a mark changes no number under Results. Rate: the attempts with an answer that claims a presence, of all judged ones of the " +
      "agent. False alarms: how often the judge claims it on held-out labelled trajectories without it. Below a rate: " +
      `Wilson's 95 % interval. Judges of different models are shown apart and never averaged. ${votesCaption}`,
    tables: groups.map((group) =>
      tableOf<Given[]>(group.title, oneGroup(rowsOf([group], ({ agent }) => agent)), [
        question,
        column("agent", ([one]) => one!.agent),
        column("answers", (own) => countsCell(own.filter(({ answer }) => !isOpen(answer)))),
        ...openAnswers.map((open) =>
          numeric(open, (own: Given[]) => String(own.filter(({ answer }) => answer === open).length)),
        ),
        column("rate", (own) => rateOfAgent(own)),
        numeric("false alarms", ([one]) => rateCell(heldOutOf(group, one!.question)?.detection?.falseAlarms)),
      ]),
    ),
    items: [
      ...groups.map(({ title, asked, days }) => ({ head: title, text: judgeFacts(asked, days) })),
      ...attempts.flatMap(({ task, agent, seed, marks = [] }) =>
        marks.map(({ judge, questions }) => ({
          head: `${task}, ${agent} ${seed}`,
          text: `marked for a person: ${questions.join(", ")} (${judge})`,
        })),
      ),
    ],
  };
}

function rateOfAgent(own: Given[]): TableCell {
  const { group, question } = own[0]!;
  const held = heldOutOf(group, question);
  if (held && held.detection === null) return noNumber;
  if (!held?.detection?.falseAlarms) return textCell(notChecked);
  const { positive } = held.detection;
  return rateCell(rateOf(own.filter(({ answer }) => answer === positive).length, own.length));
}

/** Whether judges answer otherwise about agents of their own family. */
export function familiesSection(groups: readonly JudgeGroup[]): Section {
  return {
    heading: "Answers by the families of agent and judge",
    caption:
      "Counts of answers. A judge may be kinder, or harder, to agents of its own family. Each judge has a column.",
    tables: grouped([...groups], ({ asked }) => [asked.rubric.name, asked.rubric.digest]).map((judges) =>
      tableOf<Given[]>(
        `rubric ${judges[0]!.asked.rubric.name}`,
        oneGroup(rowsOf(judges, ({ family }) => family ?? "")),
        [
          question,
          column("agents of", ([one]) => one!.family ?? noNumber),
          ...judges.map((judge) =>
            column(`${judge.asked.judge.family}: ${judge.title}`, (own: Given[]) =>
              countsCell(own.filter(({ group }) => group === judge)),
            ),
          ),
        ],
      ),
    ),
    items: [],
  };
}

function isOpen(answer: string): boolean {
  return openAnswers.some((open) => open === answer);
}

/** A line for each answer that occurs. */
function countsCell(own: Given[]): TableCell {
  const all = [...Map.groupBy(own, ({ answer }) => answer)].sort(([a], [b]) => (a < b ? -1 : 1));
  return all.length === 0 ? noNumber : { lines: all.map(([answer, { length }]) => `${length} ${answer}`) };
}
