// What was run: each task with its measure and limits, and each agent with its model. From task.yaml, the presets
// and the plan.

import { formatDuration } from "@mlrb/core/text/units";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { baselineText, metricHead, referenceText } from "../sections/report-words.ts";
import { type Section, type Table, textCell } from "../sections/table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "../sections/table-of.ts";
import { metricOf } from "../units/shown-metric.ts";

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

/** The columns of a task's row. */
export function taskFacts(report: Report) {
  const cellOf = ({ name }: Task) => report.cells.find((cell) => cell.primary && cell.task === name);
  const ofCell = (shown: (cell: Cell) => string) => (task: Task) => {
    const cell = cellOf(task);
    return cell ? shown(cell) : noNumber;
  };
  return {
    cellOf,
    metric: ofCell((cell) => metricHead(metricOf(report, cell.metric))),
    baseline: ofCell((cell) => baselineText(cell, metricOf(report, cell.metric), report.rows)),
    reference: ofCell((cell) => referenceText(cell, metricOf(report, cell.metric), report.rows)),
    time: ({ name }: Task) => timeText(report.attempts.filter(({ task }) => task === name)),
    disqualifying: ({ rules }: Task) => (rules ? String(rules.disqualifying) : unknown),
    notes: ({ rules }: Task) => (rules ? String(rules.notes) : unknown),
  };
}

function taskTable(report: Report): Table {
  const facts = taskFacts(report);
  return tableOf("Tasks", oneGroup(report.tasks), [
    column("task", ({ name }) => name),
    column("title", ({ title }) => title),
    column("metric", facts.metric),
    numeric("trivial baseline", facts.baseline),
    numeric("reference model", facts.reference),
    numeric("time limit", facts.time),
    numeric("disqualifying rules", facts.disqualifying),
    numeric("notes", facts.notes),
  ]);
}

/** The columns of an agent's row. */
export function agentFacts({ attempts }: Report) {
  return {
    kind: ({ preset }: Agent) => preset?.kind ?? unknown,
    model: modelText,
    scaffold: ({ preset }: Agent) => (preset ? (preset.scaffold ?? noNumber) : unknown),
    limits: ({ name, preset }: Agent) =>
      limitsText(
        attempts.filter(({ agent }) => agent === name),
        preset?.turnsMax ?? null,
      ),
  };
}

function agentTable(report: Report): Table {
  const facts = agentFacts(report);
  return tableOf("Agents", oneGroup(report.agents), [
    column("agent", ({ name }) => name),
    column("title", ({ title }) => title),
    column("kind", facts.kind),
    column("model", facts.model),
    column("scaffold", facts.scaffold),
    column("limits", facts.limits),
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
