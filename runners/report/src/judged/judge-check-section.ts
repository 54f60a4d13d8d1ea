// Whether a judge can be believed: its answers next to labels of people, for each question. Kappa comes last, since
// it hides which way a judge is wrong.
import type { JudgeCheck, JudgeChecks, Measures } from "@mlrb/formats/judged/judge-check";
import type { Section, Table, TableCell } from "../sections/table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "../sections/table-of.ts";
import { judgeFacts, judgeTitle, rateCell, shareCell, votesCaption } from "./judge-words.ts";

export function judgeCheckSection({ checks, missing }: JudgeChecks): Section {
  const cost = ({ dollars }: JudgeCheck) =>
    dollars === null ? "cost unknown" : `${dollars.toFixed(2)} dollars`;
  return {
    heading: "Judges, checked on labelled trajectories",
    caption:
      "Right and wrong answers by labels: true and false positives and negatives. An open answer (cannot tell, " +
      "unsupported, split) is neither; rates are given without open answers, and once more with each counted as no claim, " +
      "or as wrong where a question has several answers. Held out: the rubric's examples were written without these " +
      `trajectories. Below a rate: Wilson's 95 % interval. Votes agree: all votes on a trajectory were equal. ${votesCaption}`,
    tables: checks.flatMap(tablesOf),
    items: [
      ...checks.map((one) => ({
        head: judgeTitle(one),
        text: `${judgeFacts(one, one.days)}; labelled by: ${one.labelledBy}; ${cost(one)}`,
      })),
      ...missing.map(({ stage, cause }) => ({ head: stage, text: `no result: ${cause}` })),
    ],
  };
}

const counts = { TP: "truePositive", FP: "falsePositive", TN: "trueNegative", FN: "falseNegative" } as const;
const rates = {
  sensitivity: "sensitivity",
  specificity: "specificity",
  "false alarms": "falseAlarms",
} as const;

function tablesOf(check: JudgeCheck): Table[] {
  const rows = check.measures.filter(({ labelled }) => labelled > 0);
  const named = new Set(check.answers.flatMap((one) => (one.label === null ? [] : one.trajectory)));
  const others = check.answers.filter(
    ({ trajectory, label, answer }) => label !== answer && !(label === null && named.has(trajectory)),
  );
  const title = judgeTitle(check);
  const question = column("question", ({ question }: { question: string }) => question);
  const on = column(
    "on",
    (row: Measures) => `${row.heldOut ? "held out" : "all"}${row.openCounted ? ", with open" : ""}`,
  );
  return [
    tableOf<Measures>(`${title}: counts`, oneGroup(rows.filter(({ openCounted }) => !openCounted)), [
      ...[question, on, numeric("labelled", labelledText)],
      ...Object.entries(counts).map(([head, name]) =>
        numeric(head, ({ detection }: Measures) => detection?.[name].toString() ?? noNumber),
      ),
      column("open answers", openCell),
      numeric("votes agree", ({ unanimous }) => shareCell(unanimous)),
    ]),
    tableOf<Measures>(`${title}: rates`, oneGroup(rows), [
      ...[question, on],
      ...Object.entries(rates).map(([head, name]) =>
        numeric(head, ({ detection }: Measures) => rateCell(detection?.[name])),
      ),
      numeric("agreement", ({ agreement }) => rateCell(agreement)),
      numeric("kappa", ({ kappa }) => kappa?.toFixed(2) ?? noNumber),
    ]),
    tableOf<(typeof others)[number]>(
      `${title}: answers without a label, or other than it`,
      oneGroup(others),
      [
        ...[column("trajectory", ({ trajectory }: { trajectory: string }) => trajectory), question],
        column("label", ({ label }) => label ?? noNumber),
        column("answer", ({ answer }) => answer),
      ],
    ),
  ];
}

/** `5 (2 yes)` */
function labelledText({ labelled, detection }: Measures): string {
  const positive = detection?.prevalence ? ` (${detection.prevalence.count} ${detection.positive})` : "";
  return `${labelled}${positive}`;
}

function openCell({ open }: Measures): TableCell {
  const lines = Object.entries(open).flatMap(([answer, count]) => (count > 0 ? [`${count} ${answer}`] : []));
  return lines.length === 0 ? noNumber : { lines };
}
