// Each agent's score at fixed shares of the budget, on the metric that decides the task.
import type { Report } from "@mlrb/formats/report";
import {
  type AtShare,
  comparedShares,
  type ScoreOverTime,
  scoreOverTime,
} from "../compare/score-over-time.ts";
import { metricOf, type ShownMetric } from "../units/shown-metric.ts";
import { supportedText } from "./digits-text.ts";
import { metricHead, taskTitle } from "./report-words.ts";
import { type Table, type TableCell, textCell } from "./table.ts";
import { column, numeric, tableOf } from "./table-of.ts";

type Row = { agent: string; found: ScoreOverTime; metric: ShownMetric };

export function overTimeTable(report: Report): Table {
  const drawn = report.tasks.flatMap(({ name }) => scoreOverTime(report, name) ?? []);
  const shares = [...new Set([...comparedShares, ...drawn.flatMap(({ shares: own }) => own)])];
  const groups = drawn.map((found) => {
    const metric = metricOf(report, found.metric);
    return {
      name: found.task,
      title: `${taskTitle(report, found.task)}, ${metricHead(metric)}`,
      rows: found.agents.map(({ agent }): Row => ({ agent, found, metric })),
    };
  });
  return tableOf("Score over time", groups, [
    column("agent", ({ agent }: Row) => agent),
    ...shares
      .sort((a, b) => a - b)
      .map((share) => numeric(shareText(share), (row: Row) => cellAt(row, share))),
  ]);
}

export function shareText(share: number): string {
  return `${Number((100 * share).toPrecision(4))}%`;
}

function cellAt({ agent, found, metric }: Row, share: number): TableCell {
  const at = found.agents.find((one) => one.agent === agent)!.at.find((one) => one.share === share);
  if (at === undefined || at.measured === 0) return textCell("not measured", "bad");
  return textCell(atShareText(at, metric), at.none === at.measured ? "faint" : undefined);
}

/** `0.41 (5)`, `0.41 (4 of 5, 1 failed)`: the mean, the attempts behind it, and those that count as the baseline. */
export function atShareText(at: AtShare, { digits }: ShownMetric): string {
  const { mean, error, measured, planned, none, failed } = at;
  if (measured === 0) return "not measured";
  const count = measured === planned ? `${planned}` : `${measured} of ${planned}`;
  if (none === measured) return `no submission yet (${count})`;
  const parts = [
    count,
    ...(none > 0 ? [`${none} none yet`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  return `${mean === null ? "no mean" : supportedText(mean, digits, error)} (${parts.join(", ")})`;
}
