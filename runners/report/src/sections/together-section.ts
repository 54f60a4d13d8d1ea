// Teams next to single agents and to the best of k, under each arm: scores here, and what they spent with the costs.
import { mean } from "@mlrb/core/statistics/mean";
import { isUndisturbed } from "@mlrb/formats/declared/intervention";
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import type { Together, TogetherArm, TogetherSide } from "@mlrb/formats/report/together";
import type { Times } from "@mlrb/formats/times";
import { primaryClaim } from "../compare/together.ts";
import { metricOf } from "../units/shown-metric.ts";
import { differenceTexts, digitsText, pText, rateText } from "./digits-text.ts";
import { listText, metricHead } from "./report-words.ts";
import type { Item, Section, Table } from "./table.ts";
import { column, noNumber, numeric, oneGroup, tableOf, tableSection } from "./table-of.ts";

type Row = TogetherSide & { arm: TogetherArm };

export function togetherCaption({ smoke }: Pick<Report, "smoke">): string {
  return (
    "Each arm holds one thing equal; the budget column shows what each attempt may use. Best of k: of k single attempts the one that " +
    "public rows choose, without test scores. Means: intention to treat. In brackets: Student-t, 95 %, where every attempt is valid. " +
    "Limit: attempts by the limit of the budget that ended them; none: ended by itself." +
    (smoke ? " Nothing here says whether teams are better at the official tasks." : "")
  );
}

/** Empty unless the pipeline names arms. */
export function togetherSections(report: Report): Section[] {
  const { together } = report;
  if (!together) return [];
  const primary = together.arms.find((one) => one.primary)!;
  return [
    {
      heading: "Together",
      caption: `${togetherCaption(report)} The one primary contrast is the team against the best of k in the arm ${primary.name}; all others here, and the pairs of agents in other sections, are exploratory.`,
      tables: [togetherTable(report, (agent) => agent), contrastTable(together)],
      items: [claimItem(report, primary), ...together.arms.flatMap(withoutItem)],
    },
  ];
}

/** `name`: of an agent. */
export function togetherTable(report: Report, name: (agent: string) => string): Table {
  const table = tableOf("", armGroups(report.together), [
    column("task", ({ task }: Row) => task),
    column("side", sideText),
    column("agent", ({ agent }: Row) => name(agent)),
    column("budget", ({ budget }: Row) => budgetText(budget)),
    numeric("n", ({ n, planned }: Row) => `${n}/${planned}`),
    column("metric", ({ metric }: Row) => metricHead(metricOf(report, metric))),
    numeric("mean", ({ metric, mean, interval }: Row) => {
      const { digits } = metricOf(report, metric);
      if (mean === null) return noNumber;
      const ends = interval ? ` [${interval.map((end) => digitsText(end, digits)).join(", ")}]` : "";
      return digitsText(mean, digits) + ends;
    }),
    column("limit", ({ limits }: Row) =>
      listText(Object.entries(limits).map(([limit, count]) => `${limit} ${count}`)),
    ),
  ]);
  return { ...table, groupHead: "arm" };
}

function armGroups(together: Together | undefined) {
  return (together?.arms ?? []).map((arm) => ({
    ...{ name: arm.name, title: `${arm.name}${arm.primary ? " (primary)" : ""}` },
    rows: arm.sides.map((side): Row => ({ ...side, arm })),
  }));
}

function sideText({ side, k, arm }: Row): string {
  if (side === "best-of-k") return `best of ${k}`;
  return side === "team" ? "team" : `one agent${arm.solo === arm.bestOf ? "" : ", alone with all"}`;
}

function budgetText(budget: TogetherSide["budget"]): string {
  if (!budget) return "unknown";
  const { timeMs, tokens, dollars, machines } = budget;
  const parts = [
    timeMs !== undefined && `${Number((timeMs / 3_600_000).toPrecision(3))} h`,
    machines !== undefined && `${machines} machines`,
    tokens !== undefined && `${tokens} tokens`,
    dollars !== undefined && `${dollars} dollars`,
  ];
  return parts.filter(Boolean).join(", ");
}

function contrastTable({ arms }: Together): Table {
  const rows = arms.flatMap(({ overBestOf, overSolo, primary }) => [
    ...(overBestOf ? [{ ...overBestOf, role: primary ? "primary" : "exploratory" }] : []),
    ...(overSolo ? [{ ...overSolo, role: "exploratory" }] : []),
  ]);
  type Contrast = AgentComparison & { role: string };
  return tableOf("The team against others, over tasks", oneGroup<Contrast>(rows), [
    column("contrast", ({ agents }) => agents.join(" − ")),
    column("role", ({ role }) => role),
    numeric("difference, normalised", ({ difference }) => {
      if (difference.kind === "none") return noNumber;
      const { value, interval } = differenceTexts(difference);
      return interval === null ? value : `${value} ${interval}`;
    }),
    numeric("P(team better)", ({ overall }) =>
      overall.kind === "tested" ? rateText(overall.statistic, overall.interval) : noNumber,
    ),
    numeric("tasks", ({ overall }) => (overall.kind === "tested" ? String(overall.tasks) : noNumber)),
    numeric("p", ({ overall }) => (overall.kind === "tested" ? pText(overall.p) : noNumber)),
  ]);
}

function claimItem(report: Report, { name, overBestOf, k }: TogetherArm): Item {
  const head = `Primary contrast, ${name}`;
  const overall = overBestOf?.overall;
  const better = primaryClaim(report);
  if (report.smoke) return { head, text: "no statement: this is smoke" };
  if (overall?.kind !== "tested")
    return { head, text: `not tested${overBestOf ? leftOutText(overBestOf) : ""}` };
  if (overall.pMin > 0.05) return { head, text: "too few attempts: no result could show a difference" };
  const sides = ["the team", `the best of ${k}`];
  const [first, second] = better === "team" ? sides : sides.toReversed();
  const text = better
    ? `${first} is shown to be better than ${second} (p ${pText(overall.p)})`
    : `the team is not shown to differ from the best of ${k}`;
  return { head, text };
}

function leftOutText({ leftOut }: AgentComparison): string {
  return leftOut.length === 0 ? "" : `: ${leftOut.map(({ task, why }) => `${task}: ${why}`).join("; ")}`;
}

function withoutItem({ name, without }: TogetherArm): Item[] {
  return without.length === 0 ? [] : [{ head: name, text: without.join("; ") }];
}

/** What each side spent for one value: of the best of k, all k attempts. Empty unless the pipeline names arms. */
export function togetherCostsSections(report: Report, { attempts }: Times): Section[] {
  if (!report.together) return [];
  const price = report.together.dollarsPerMachineHour;
  type Amount = (attempt: Times["attempts"][number]) => number | null | undefined;
  const cell = (head: string, digits: number, of: Amount) =>
    numeric(head, ({ task, agent, k }: Row) => {
      const own = attempts.filter((one) => one.task === task && one.agent === agent && isUndisturbed(one));
      const values = own.map(of).filter((value) => value != null);
      // if it is not known of some attempts, their mean would be too low or too high
      const each = values.length < own.length ? undefined : mean(values);
      return each === undefined ? "unknown" : (k * each).toFixed(digits);
    });
  const all: Amount = ({ dollars, machineHours }) =>
    dollars === null || machineHours === undefined ? null : dollars + (price ?? 0) * machineHours;
  const { tables, ...section } = tableSection(
    {
      heading: "Together: what each side spent",
      caption:
        "For one value, as a mean over attempts: of the best of k, all k attempts without the scoring of public rows (see above). Wall: hours from " +
        "start to end, summed over attempts. Machine hours: working hours times GPUs, or machines without one." +
        (price === null ? "" : ` All dollars: model calls, and machine hours at ${price} dollars.`) +
        " Talking: model calls whose answer asked for the message board only; a part of tokens and dollars.",
    },
    armGroups(report.together),
    [
      column("task", ({ task }: Row) => task),
      column("side", sideText),
      cell("wall hours", 3, ({ wallSeconds }) => wallSeconds && wallSeconds / 3600),
      cell("machine hours", 3, ({ machineHours }) => machineHours),
      cell("tokens", 0, ({ tokens }) => tokens),
      cell("dollars of calls", 2, ({ dollars }) => dollars),
      ...(price === null ? [] : [cell("all dollars", 2, all)]),
      cell("talking, tokens", 0, ({ talking: spent }) =>
        spent ? spent.inputTokens + spent.outputTokens : 0,
      ),
      cell("talking, dollars", 2, ({ talking: spent }) => (spent ? spent.dollars : 0)),
    ],
  );
  return [{ ...section, tables: tables.map((table) => ({ ...table, groupHead: "arm" })) }];
}
