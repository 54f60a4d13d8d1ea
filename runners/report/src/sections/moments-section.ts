// The scores at intermediate checkpoints, on the metric that decides the task. An attempt that spoiled a good
// submission is named, because its final score does not show that.

import type { Metric, Report } from "@mlrb/formats/report";
import type { Attempt, AttemptMoment } from "@mlrb/formats/report/attempt";
import { changedOverTime, momentCounting } from "../compare/moment-counting.ts";
import { metricOf, type ShownMetric, storedMetric } from "../units/shown-metric.ts";
import { seedCell } from "./attempts-section.ts";
import { scoreError, sentenceNumber, supportedText } from "./digits-text.ts";
import { attemptsText, grouped, metricHead, taskTitle } from "./report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";
import { column, numeric, oneGroup, tableOf } from "./table-of.ts";

export function momentsSection(report: Report): Section {
  const shown = report.tasks.flatMap(({ name, primary }) => {
    const attempts = report.attempts.filter((one) => one.task === name && changedOverTime(one));
    if (primary === null || attempts.length === 0) return [];
    return [{ task: name, metric: metricOf(report, primary), attempts }];
  });
  return {
    heading: "Intermediate checkpoints",
    caption:
      "Score of the submission as it was at a share of the budget, on the metric that decides the task. Only the final " +
      "submission, under 100%, counts. Attempts whose checkpoints all equal it are left out. none: no submission yet.",
    tables: shown.map(({ task, metric, attempts }) =>
      tableOf(`${taskTitle(report, task)}, ${metricHead(metric)}`, oneGroup(attempts), [
        column("agent", ({ agent }) => agent),
        numeric("seed", (attempt) => seedCell(attempt)),
        ...attempts[0]!.moments.map(({ moment }, at) =>
          numeric(moment, (attempt: Attempt) => momentCell(attempt, attempt.moments[at]!, metric)),
        ),
      ]),
    ),
    items: shown.flatMap(({ metric, attempts }) => [
      ...attempts.flatMap((attempt) => spoiled(attempt, storedMetric(report, metric.name))),
      ...rejections(attempts, metric),
    ]),
  };
}

function momentCell(attempt: Attempt, moment: AttemptMoment, { name, digits }: ShownMetric): TableCell {
  const score = moment.scores[name];
  const way = momentCounting(attempt, moment, name);
  const text = score?.kind === "scored" ? supportedText(score.value, digits, score.standardError) : "";
  switch (way.kind) {
    case "valid":
      return textCell(text);
    case "missing":
      return textCell("not measured", "bad");
    case "failed":
      if (way.because === "none") return textCell("none", "faint");
      if (text !== "") return textCell(text, "struck");
      return textCell(score?.kind === "rejected" ? "rejected" : "not measured", "bad");
  }
}

/** Earlier checkpoints with a score, where the final submission is rejected. */
function spoiled(attempt: Attempt, metric: Metric): Item[] {
  const { name } = metric;
  const end = attempt.moments.at(-1);
  if (!end) return [];
  const way = momentCounting(attempt, end, name);
  if (way.kind !== "failed" || way.because !== "rejected") return [];
  const before = attempt.moments.slice(0, -1).flatMap((moment) => {
    const then = momentCounting(attempt, moment, name);
    return then.kind === "valid"
      ? [`${moment.moment} ${sentenceNumber(metric, then.value, scoreError(moment.scores[name]))}`]
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
    attempt.moments.slice(0, -1).flatMap((moment) => {
      const way = momentCounting(attempt, moment, name);
      if (way.kind === "missing")
        return [{ attempt, moment: moment.moment, why: `not measured: ${way.cause}` }];
      if (way.kind !== "failed" || way.because !== "rejected") return [];
      return [{ attempt, moment: moment.moment, why: `rejected: ${way.why}` }];
    }),
  );
  return grouped(found, ({ moment, why }) => [moment, why]).map((same) => ({
    head: `${same[0]!.attempt.task} at ${same[0]!.moment}, ${attemptsText(same.map(({ attempt }) => attempt))}`,
    text: same[0]!.why,
  }));
}
