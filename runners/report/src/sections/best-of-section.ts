// What k attempts gain: pass@k, the attempt that public rows choose, and as an upper bound the best test score.
import type { Report } from "@mlrb/formats/report";
import type { AgentOfK, BestOf, CellOfK, TaskChoice } from "@mlrb/formats/report/best-of";
import { metricOf } from "../units/shown-metric.ts";
import { digitsText, meanText, pText, rateText } from "./digits-text.ts";
import type { Item, Section, Table, TableCell } from "./table.ts";
import { byTask, column, noNumber, numeric, oneGroup, tableOf } from "./table-of.ts";

export const bestOfCaption =
  "pass@k: the probability that one of k attempts succeeds, unbiased, with at least 95 % coverage (Clopper and Pearson). Best of " +
  "k: the test score of the attempt that a rule chooses, which never reads test scores: the best score on the task's public rows, by " +
  "a scorer of this project, or without such rows a random choice among valid attempts. Groups of k attempts are cut in the order of " +
  "seeds; failed choices count as the trivial baseline; a group with a missing attempt is missing. P(better than one): the chosen attempt against " +
  "single attempts outside its group, ties half, 95 %. Upper bound: the best test score of each group, which no rule can " +
  "reach; never compare it.";

const alpha = 0.05;

/** Empty unless the pipeline asks for it. */
export function bestOfSections(report: Report): Section[] {
  const { bestOf } = report;
  if (!bestOf) return [];
  const caption = `${bestOfCaption} The last p asks whether the rule chooses better than chance within groups, and is the only claim here; choosing costs all k attempts and the scoring of public rows (costs.md).`;
  return [
    {
      ...{ heading: "Best of k", caption },
      tables: [bestOfTable(report, byTask(report, bestOf.cells), (agent) => agent), overTasksTable(bestOf)],
      items: [...bestOf.tasks.map((choice) => ruleItem(report, choice)), ...claims(bestOf)],
    },
  ];
}

/** `name`: of an agent. */
export function bestOfTable(
  report: Report,
  groups: Parameters<typeof tableOf<CellOfK>>[1],
  name: (agent: string) => string,
): Table {
  const score = ({ task, agent }: CellOfK, value: number | null): TableCell | string => {
    const cell = report.cells.find((one) => one.primary && one.task === task && one.agent === agent);
    return value === null || !cell ? noNumber : meanText(cell, metricOf(report, cell.metric), value);
  };
  return tableOf("", groups, [
    column("agent", ({ agent }) => name(agent)),
    numeric("k", ({ k }) => String(k)),
    numeric("successes", ({ n, successes }) => (successes === null ? noNumber : `${successes}/${n}`)),
    numeric("pass@k", ({ passAtK, passInterval }) => rate(passAtK, passInterval)),
    column("chosen", chosenText),
    numeric("best of k", (row) => score(row, row.mean)),
    numeric("P(better than one)", ({ better, betterInterval }) => rate(better, betterInterval)),
    numeric("upper bound", (row) => score(row, row.oracle)),
  ]);
}

function rate(value: number | null, interval: [number, number] | null): TableCell | string {
  return value === null ? noNumber : rateText(value, interval);
}

/** `2 of 2 by public rows, 1 left out`. */
function chosenText({ k, groups, leftOut }: CellOfK): string {
  if (k === 1) return "each attempt";
  const count = (of: string) => groups.filter(({ by }) => by === of).length;
  const parts = [
    [count("dev"), "by public rows"],
    [count("random"), "at random"],
    [count("none"), "without a valid attempt"],
    [count("missing"), "missing"],
    [leftOut, leftOut === 1 ? "attempt left out" : "attempts left out"],
  ] as const;
  return parts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : [])).join(", ");
}

type Choice = NonNullable<AgentOfK["choice"]>;

function ofChoice(head: string, text: (choice: Choice) => string) {
  return numeric(head, ({ choice }: AgentOfK) => (choice ? text(choice) : noNumber));
}

function overTasksTable({ agents }: BestOf): Table {
  return tableOf("Over tasks", oneGroup(agents), [
    column("agent", ({ agent }) => agent),
    numeric("k", ({ k }) => String(k)),
    numeric("pass@k (tasks)", ({ passAtK, passTasks }) =>
      passAtK === null ? noNumber : `${passAtK.toFixed(2)} (${passTasks})`,
    ),
    numeric("normalised ↑", ({ normalisedMean }) => normalisedMean?.toFixed(2) ?? noNumber),
    numeric("P(better than one) (tasks)", ({ better, betterInterval, tasks }) =>
      better === null ? noNumber : `${rateText(better, betterInterval)} (${tasks})`,
    ),
    ofChoice("P(better in its group) (groups)", ({ share, groups }) => `${share.toFixed(2)} (${groups})`),
    ofChoice("p", ({ p }) => pText(p)),
    ofChoice("p (Holm over agents and k)", ({ pHolm }) => pText(pHolm)),
  ]);
}

function ruleItem(report: Report, { task, metric, success, beats, devScorer }: TaskChoice): Item {
  const { digits, direction } = metricOf(report, metric);
  const score = success === null ? "" : digitsText(success, digits);
  const over = `${direction === "higher" ? "over" : "under"} ${score}: better than ${beats} by two standard errors`;
  const unknown = `no success is known${beats === null ? "" : `: ${beats} has no value with an error`}`;
  const succeeds = success === null ? unknown : `success: ${beats === null ? `${score} or better` : over}`;
  const rows =
    devScorer === null ? "no public rows, so the choice is random" : `chosen by ${devScorer} on public rows`;
  return { head: task, text: `${succeeds}; ${rows}` };
}

/** Nothing is claimed but what the test within groups rejects. */
function claims({ agents }: BestOf): Item[] {
  return agents.flatMap((row) =>
    row.choice ? [{ head: `${row.agent}, best of ${row.k}`, text: claim(row.choice) }] : [],
  );
}

function claim({ share, pHolm, pMin }: Choice): string {
  if (pMin > alpha) return "too few groups to show that the rule chooses better than chance";
  if (pHolm > alpha) return "the rule is not shown to choose better than chance";
  return `the rule is shown to choose ${share > 0.5 ? "better" : "worse"} than chance (p ${pText(pHolm)} by Holm)`;
}
