// Rows of report.csv that rest on several attempts: of cells, of agents over tasks, and of pairs of agents.

import type { Report } from "@mlrb/formats/report";
import type { AgentAcrossTasks } from "@mlrb/formats/report/across-tasks";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { importedLine } from "../read/imported-words.ts";
import type { Fields } from "./csv-fields.ts";

export function summaryRows(report: Report): Fields[] {
  const { attempts } = report;
  return [
    ...sensitivityRows(report),
    ...acrossRows(report),
    ...report.cells.flatMap((cell) => {
      const own = attempts.filter(({ task, agent }) => task === cell.task && agent === cell.agent);
      return withOrigin(cellRows(cell), own);
    }),
    ...report.agentComparisons.flatMap((each) => {
      const own = attempts.filter(({ agent }) => each.agents.includes(agent));
      return withOrigin(comparedRows(each), own);
    }),
  ];
}

function withOrigin(rows: Fields[], attempts: Attempt[]): Fields[] {
  return rows.map((row) => ({ ...row, origin: importedLine(attempts) }));
}

function sensitivityRows({ sensitivity, attempts }: Report): Fields[] {
  return sensitivity.flatMap(({ task, agent, metric, variant, mean, attempts: n }) => {
    const own = attempts.filter((each) => each.task === task && each.agent === agent);
    return withOrigin([{ kind: "sensitivity", task, agent, metric, row: variant, value: mean, n }], own);
  });
}

function acrossRows({ acrossTasks: { leftOut, agents, ranked }, attempts }: Report): Fields[] {
  const kind = "across-tasks";
  return [
    ...agents.flatMap((each) => {
      const own = attempts.filter(({ agent }) => agent === each.agent);
      return withOrigin(agentRows(each, ranked.length), own);
    }),
    ...leftOut.map(({ task, why }) => ({ kind, task, row: "left out", reason: why })),
  ];
}

function agentRows(
  { agent, tasks, mean, meanRank, leaveOneOut, interquartileMean, leftOut }: AgentAcrossTasks,
  ranked: number,
): Fields[] {
  const kind = "across-tasks";
  const n = tasks.length;
  return [
    ...(meanRank === null ? [] : [{ kind, agent, row: "mean rank", value: meanRank, n: ranked }]),
    ...(n === 0 ? [] : [{ kind, agent, row: "mean", value: mean, n }]),
    ...leaveOneOut.map((each) => ({
      ...{ kind, agent, row: `mean without ${each.without}`, value: each.mean, n: n - 1 },
    })),
    ...(n === 0 ? [] : [{ kind, agent, row: "interquartile mean", value: interquartileMean, n }]),
    ...leftOut.map(({ task, why }) => ({ kind, task, agent, row: "left out", reason: why })),
  ];
}

/** The pass rate of a cell, and the mean of its valid attempts. */
function cellRows(cell: Cell): Fields[] {
  const { task, agent, metric, validN, measured, validMean, passInterval, validInterval } = cell;
  const own: Fields = { task, agent, metric };
  const ends = (interval: readonly number[] | null) => ({
    low: interval?.[0] ?? null,
    high: interval?.[1] ?? null,
  });
  return [
    ...(measured === 0
      ? []
      : [{ ...own, kind: "pass-rate", value: validN / measured, n: measured, ...ends(passInterval) }]),
    ...(validMean === null
      ? []
      : [{ ...own, kind: "valid-mean", value: validMean, n: validN, ...ends(validInterval) }]),
  ];
}

/** Two agents over tasks; `agent` holds both names. */
function comparedRows({ agents, difference, overall }: AgentComparison): Fields[] {
  const own: Fields = { kind: "compared", agent: agents.join(" and ") };
  return [
    ...(difference.kind === "none"
      ? [{ ...own, row: "difference", reason: difference.why }]
      : [
          {
            ...own,
            row: "difference",
            value: difference.value,
            n: difference.tasks.length,
            low: difference.interval?.[0] ?? null,
            high: difference.interval?.[1] ?? null,
          },
        ]),
    ...(overall.kind === "untestable"
      ? []
      : [
          {
            ...own,
            row: "P(first)",
            value: overall.statistic,
            n: overall.tasks,
            low: overall.interval[0],
            high: overall.interval[1],
          },
          { ...own, row: "p over attempts", value: overall.p, n: overall.tasks },
        ]),
  ];
}
