// What was run: each task with its measure and limits, and each agent with its model. From task.yaml, the presets
// and the plan. Describes the metrics too, which tables only name.

import { formatDuration } from "@mlrb/core/text/units";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { baselineText, metricHead, referenceText } from "../sections/report-words.ts";
import { type Section, type Table, textCell } from "../sections/table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "../sections/table-of.ts";
import { metricOf, type ShownMetric } from "../units/shown-metric.ts";

export function setUpSection(report: Report): Section {
  return {
    heading: "Tasks and agents",
    caption:
      "The metric decides the task. Breaking a disqualifying rule disqualifies an attempt; notes do not. Limits are of " +
      "one attempt, as planned.",
    tables: [taskTable(report), agentTable(report)],
    items: [],
  };
}

type Task = Report["tasks"][number];
type Agent = Report["agents"][number];

/** What tables say of a task, apart from its name and rules. `metricName`: as readers know it. */
export function taskColumns(report: Report, metricName = (name: string) => name) {
  const ofCell = (shown: (cell: Cell, metric: ShownMetric) => string) => (task: Task) => {
    const cell = report.cells.find((each) => each.primary && each.task === task.name);
    return cell ? shown(cell, metricOf(report, cell.metric)) : noNumber;
  };
  return [
    column(
      "metric",
      ofCell(({ metric: name }, metric) => metricHead({ ...metric, name: metricName(name) })),
    ),
    numeric(
      "trivial baseline",
      ofCell((cell, metric) => baselineText(cell, metric, report.rows)),
    ),
    numeric(
      "reference model",
      ofCell((cell, metric) => referenceText(cell, metric, report.rows)),
    ),
    numeric("time limit", ({ name }: Task) => timeText(report.attempts.filter(({ task }) => task === name))),
  ];
}

export function disqualifyingText({ rules }: Task) {
  return rules ? String(rules.disqualifying) : unknown;
}

function taskTable(report: Report): Table {
  return tableOf("Tasks", oneGroup(report.tasks), [
    column("task", ({ name }) => name),
    column("title", ({ title }) => title),
    ...taskColumns(report),
    numeric("disqualifying rules", disqualifyingText),
    numeric("notes", ({ rules }: Task) => (rules ? String(rules.notes) : unknown)),
  ]);
}

/** What tables say of an agent, apart from its name. */
export function factColumns({ attempts }: Report) {
  return [
    column("kind", ({ preset }: Agent) => preset?.kind ?? unknown),
    column("model", modelText),
    column("scaffold", ({ preset }: Agent) => (preset ? (preset.scaffold ?? noNumber) : unknown)),
    column("limits", ({ name, preset }: Agent) => {
      const own = attempts.filter(({ agent }) => agent === name);
      return limitsText(own, preset?.turnsMax ?? null);
    }),
  ];
}

function agentTable(report: Report): Table {
  return tableOf("Agents", oneGroup(report.agents), [
    column("agent", ({ name }) => name),
    column("title", ({ title }) => title),
    ...factColumns(report),
  ]);
}

const unknown = textCell("unknown", "faint");

function modelText({ preset }: Agent) {
  if (!preset) return unknown;
  const { models, planner } = preset;
  if (models.length === 0) return noNumber;
  return `${models.join(", ")}${planner === null ? "" : `; planner ${planner}`}`;
}

function timeText(attempts: Attempt[]) {
  const times = limitsOf(attempts, "timeMs").map(formatDuration);
  return times.length === 0 ? unknown : times.join(", ");
}

/** Of model calls. The time is a limit of the task. */
function limitsText(attempts: Attempt[], turnsMax: number | null) {
  const texts = [
    ...limitsOf(attempts, "dollars").map((dollars) => `${dollars} dollars`),
    ...limitsOf(attempts, "tokens").map((tokens) => `${tokens} tokens`),
    ...(turnsMax === null ? [] : [`${turnsMax} model calls`]),
  ];
  if (texts.length > 0) return texts.join(", ");
  return attempts.some(({ budget }) => budget) ? "time only" : unknown;
}

/** The distinct values, smallest first. */
function limitsOf(attempts: Attempt[], limit: keyof NonNullable<Attempt["budget"]>): number[] {
  const values = attempts.flatMap(({ budget }) => budget?.[limit] ?? []);
  return [...new Set(values)].sort((a, b) => a - b);
}

export function metricsSection(report: Report): Section {
  return {
    heading: "Metrics",
    caption: "",
    tables: [],
    items: report.metrics.map((metric) => ({
      head: metricHead(metric),
      text: `${metric.title}${unitText(metricOf(report, metric.name), metric.unit)}; ${metric.direction} is better`,
    })),
  };
}

/** `unit` is that of report.json and the CSV files. */
function unitText({ headUnit }: ShownMetric, unit: string): string {
  if (unit === "") return "";
  return headUnit === null ? ` (${unit})` : ` (${unit}, printed in ${headUnit})`;
}
