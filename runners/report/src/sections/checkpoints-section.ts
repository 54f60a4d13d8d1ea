// The scores at intermediate checkpoints, on the metric that decides the task: of each agent at fixed shares of the
// budget, and of each attempt. An attempt that spoiled a good
// submission is named, because its final score does not show that.

import type { Metric, Report } from "@mlrb/formats/report";
import type { Attempt, AttemptCheckpoint } from "@mlrb/formats/report/attempt";
import { changedOverTime, checkpointCounting } from "../compare/counting.ts";
import {
  type AtShare,
  comparedShares,
  type ScoreOverTime,
  scoreOverTime,
} from "../compare/score-over-time.ts";
import { metricOf, type ShownMetric, storedMetric } from "../units/shown-metric.ts";
import { seedCell } from "./attempts-section.ts";
import { scoreError, sentenceNumber, supportedText } from "./digits-text.ts";
import { attemptsText, grouped, metricHead, taskTitle } from "./report-words.ts";
import { type Item, type Section, type Table, type TableCell, textCell } from "./table.ts";
import { column, numeric, oneGroup, tableOf } from "./table-of.ts";

export function checkpointsSection(report: Report): Section {
  const shown = report.tasks.flatMap(({ name, primary }) => {
    const attempts = report.attempts.filter((one) => one.task === name && changedOverTime(one));
    if (primary === null || attempts.length === 0) return [];
    return [{ task: name, metric: metricOf(report, primary), attempts }];
  });
  return {
    heading: "Intermediate checkpoints",
    caption:
      "Score of the submission as it was at a share of the budget, on the metric that decides the task. Only the final " +
      "submission, under 100%, counts. Means: over attempts (n), with failed ones and those without a submission yet " +
      "(none) at the trivial baseline. Single attempts whose checkpoints all equal the end are left out.",
    tables: [
      overTimeTable(report),
      ...shown.map(({ task, metric, attempts }) =>
        tableOf(`${taskTitle(report, task)}, ${metricHead(metric)}`, oneGroup(attempts), [
          column("agent", ({ agent }) => agent),
          numeric("seed", (attempt) => seedCell(attempt)),
          ...attempts[0]!.checkpoints.map(({ checkpoint }, at) =>
            numeric(checkpoint, (attempt: Attempt) =>
              checkpointCell(attempt, attempt.checkpoints[at]!, metric),
            ),
          ),
        ]),
      ),
    ].filter(({ groups }) => groups.length > 0),
    items: shown.flatMap(({ metric, attempts }) => [
      ...attempts.flatMap((attempt) => spoiled(attempt, storedMetric(report, metric.name))),
      ...rejections(attempts, metric),
    ]),
  };
}

function checkpointCell(
  attempt: Attempt,
  checkpoint: AttemptCheckpoint,
  { name, digits }: ShownMetric,
): TableCell {
  const score = checkpoint.scores[name];
  const way = checkpointCounting(attempt, checkpoint, name);
  const text = score?.kind === "scored" ? supportedText(score.value, digits, score.standardError) : "";
  switch (way.kind) {
    case "valid":
      return textCell(text);
    case "missing":
      return textCell("not measured", "bad");
    case "failed":
      if (way.because === "none") return textCell("none", "faint");
      if (text !== "") return textCell(text, "crossed-out");
      return textCell(score?.kind === "rejected" ? "rejected" : "not measured", "bad");
  }
}

/** Earlier checkpoints with a score, where the final submission is rejected. */
function spoiled(attempt: Attempt, metric: Metric): Item[] {
  const { name } = metric;
  const end = attempt.checkpoints.at(-1);
  if (!end) return [];
  const way = checkpointCounting(attempt, end, name);
  if (way.kind !== "failed" || way.because !== "rejected") return [];
  const before = attempt.checkpoints.slice(0, -1).flatMap((checkpoint) => {
    const then = checkpointCounting(attempt, checkpoint, name);
    return then.kind === "valid"
      ? [
          `${checkpoint.checkpoint} ${sentenceNumber(metric, then.value, scoreError(checkpoint.scores[name]))}`,
        ]
      : [];
  });
  if (before.length === 0) return [];
  return [
    {
      head: `${attempt.task}, ${attempt.agent} ${attempt.seed}`,
      text:
        `the final submission is rejected (${way.why}) and scored at the trivial baseline. Earlier checkpoints were ` +
        `scored, at ${before.join(", at ")}; they do not count`,
    },
  ];
}

/** Why a checkpoint before the end has no score. */
function rejections(attempts: Attempt[], { name }: ShownMetric): Item[] {
  const found = attempts.flatMap((attempt) =>
    attempt.checkpoints.slice(0, -1).flatMap((checkpoint) => {
      const way = checkpointCounting(attempt, checkpoint, name);
      if (way.kind === "missing")
        return [{ attempt, checkpoint: checkpoint.checkpoint, why: `not measured: ${way.cause}` }];
      if (way.kind !== "failed" || way.because !== "rejected") return [];
      return [{ attempt, checkpoint: checkpoint.checkpoint, why: `rejected: ${way.why}` }];
    }),
  );
  return grouped(found, ({ checkpoint, why }) => [checkpoint, why]).map((same) => ({
    head: `${same[0]!.attempt.task} at ${same[0]!.checkpoint}, ${attemptsText(same.map(({ attempt }) => attempt))}`,
    text: same[0]!.why,
  }));
}

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
