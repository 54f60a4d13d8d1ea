// A report of formatVersion 4 as one of today: its numbers are computed again from its attempts, by today's rules. What
// the old file does not say is unknown: the kinds and sizes of reference models, so no mean over tasks has a scale.

import { upgradedJudgement } from "@mlrb/formats/judged/verdict";
import type { Report } from "@mlrb/formats/report";
import { reportFormat } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Report4 } from "@mlrb/formats/report-4";
import { agentComparisons } from "../compare/agent-comparisons.ts";
import { type Anchor, anchorOf } from "../compare/anchor-of.ts";
import { cell } from "../compare/cell.ts";
import type { Floor } from "../compare/floor-of.ts";
import { metricScale } from "../compare/metric-scale.ts";
import { overTasks } from "../compare/over-tasks.ts";
import { rows } from "../compare/rows.ts";
import { sensitivity } from "../compare/sensitivity.ts";
import { coverage } from "./coverage.ts";
import type { AnchorRow } from "./parse-artifacts.ts";

type Cell4 = Report4["cells"][number];
type Old = { report: Report4; attempts: Attempt[]; seeded: (agent: string) => boolean };

export function upgradedReport(report: Report4): Report {
  const attempts = report.attempts.map(
    (attempt): Attempt => ({
      ...{ actions: null, ...attempt },
      verdict: upgradedVerdict(attempt.verdict),
      research: upgradedResearch(attempt.research),
    }),
  );
  const old: Old = { report, attempts, seeded: seededAgents(report) };
  const groups = [
    ...Map.groupBy(report.cells, ({ task, metric }) => JSON.stringify([task, metric])).values(),
  ];
  const tasks = groups.map((group) => upgradedTask(group, old));
  const cells = tasks.flatMap((each) => each.cells);
  const agents = report.agents.map(({ name }) => name);
  const acrossTasks = overTasks(cells, { tasks: report.tasks, agents });
  const scaled = acrossTasks.tasks.map(({ task }) => task);
  return {
    ...report,
    formatVersion: reportFormat,
    coverage: coverage(attempts, { agents, gaps: report.coverage.gaps, seeded: old.seeded }),
    attempts,
    cells,
    rows: tasks.flatMap((each) => each.rows),
    acrossTasks,
    sensitivity: sensitivity(cells, attempts),
    agentComparisons: agentComparisons(cells, { agents, attempts, seeded: old.seeded, scaled }),
  };
}

function upgradedVerdict(verdict: Report4["attempts"][number]["verdict"]): Attempt["verdict"] {
  if (verdict.kind === "missing") return verdict;
  const found = upgradedJudgement(verdict);
  return { ...found, machine: found.kind };
}

function upgradedResearch(research: Report4["attempts"][number]["research"]): Attempt["research"] {
  if (research?.kind !== "found") return research;
  const { kind, executed, metric, predictionError, predictions } = research;
  const unknown = { distinctValid: null, runs: null, limits: [], lastChange: null };
  return { kind, executed, metric, predictionError, predictions, ...unknown };
}

/** `group` are the cells of one task and metric, one for each agent. */
function upgradedTask(group: Cell4[], { report, attempts, seeded }: Old): Pick<Report, "cells" | "rows"> {
  const [first] = group as [Cell4];
  const { task } = first;
  const metric = report.metrics.find(({ name }) => name === first.metric)!;
  const measured = report.rows
    .filter((row) => row.task === task && row.metric === metric.name && row.name !== "floor")
    .map(({ standings: _, floor: _floor, anchor: _anchor, task: _task, metric: _metric, ...row }) => {
      return { kind: null, parameters: null, ...row } as AnchorRow;
    });
  const anchors = { kind: "ok", value: measured } as const;
  const floor = floorOf(first);
  const anchor: Anchor = anchorOf(first.anchorName, anchors);
  const scale = metricScale(metric, { floor, anchor, rows: measured });
  const cells = group.map(({ agent, primary, errors }): Cell => {
    const own = attempts.filter((attempt) => attempt.task === task && attempt.agent === agent);
    const members = own.map((attempt) => ({
      attempt,
      items: { kind: "unreadable", cause: "not in the report" } as const,
    }));
    const found = cell(members, {
      metric,
      primary,
      floor,
      anchor,
      scale,
      rows: measured,
      seeded: seeded(agent),
    });
    return found.belowFloor === 0 ? { ...found, errors } : found;
  });
  return { cells, rows: rows(cells, { task, metric, anchors, floor, anchor }) };
}

/** Only its note says why a trivial baseline is unknown. */
function floorOf({ floor, floorName, notes }: Cell4): Floor {
  if (floor !== null) return { kind: "known", value: floor, name: floorName };
  const why = notes.find((note) => /^(no trivial baseline|trivial baseline not measured)/.test(note));
  return { kind: "unavailable", name: floorName, why: why ?? "the trivial baseline is unknown" };
}

/** Agents that no comparison names as not declared `seeded`, among those that were compared. */
function seededAgents({ agentComparisons: all }: Report4): (agent: string) => boolean {
  const named = (why: string) => why.split(/ (?:is|are) not declared `seeded`/);
  const free = all.flatMap(({ pairs: { why = "" } }) => {
    const [names, rest] = named(why);
    return rest === undefined ? [] : names!.split(" and ");
  });
  const compared = all.flatMap(({ agents }) => agents);
  return (agent) => compared.includes(agent) && !free.includes(agent);
}
