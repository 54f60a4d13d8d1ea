// Every attempt, also those that do not count as they are, with what was handed in and found in it.

import type { Metric, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { counting } from "../compare/cell.ts";
import { byText } from "../read/order.ts";
import { digitsText } from "./digits-text.ts";
import {
  attemptsText,
  grouped,
  metricHead,
  metricOf,
  shortDigest,
  taskTitle,
  verdictWord,
} from "./report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";

export function attemptsSection(report: Report): Section {
  const struck = report.attempts.some(({ verdict }) => verdict.kind === "struck");
  return {
    heading: "Attempts",
    caption: `Score (standard error over items).${struck ? " ~Struck-through~ scores do not count: the attempt is scored at the trivial baseline." : ""}`,
    tables: report.tasks.map(({ name: task }) => {
      const attempts = report.attempts.filter((attempt) => attempt.task === task);
      const metrics = [
        ...new Set(report.cells.filter((cell) => cell.task === task).map((cell) => cell.metric)),
      ];
      const rows = attempts.map((attempt) => [
        textCell(attempt.agent),
        {
          ...textCell(`${attempt.seed}${attempt.note === "" ? "" : "†"}`),
          about: { task, agent: attempt.agent, seed: attempt.seed },
        },
        textCell(verdictWord(attempt.verdict.kind), attempt.verdict.kind === "pass" ? undefined : "bad"),
        ...metrics.map((metric) => scoreCell(attempt, metricOf(report, metric))),
        textCell(attempt.submission === null ? "none" : shortDigest(attempt.submission), "faint"),
      ]);
      return {
        title: taskTitle(report, task),
        columns: [
          { head: "agent", rigid: false },
          { head: "seed", rigid: true },
          { head: "verdict", rigid: false },
          ...metrics.map((metric) => ({ head: metricHead(metricOf(report, metric)), rigid: true })),
          { head: "submission", rigid: true },
        ],
        groups: rows.length > 0 ? [{ name: "", title: "", rows }] : [],
      };
    }),
    items: [
      ...itemsOf(report.attempts, (attempt) => (attempt.note === "" ? "" : `† ${attempt.note}`)),
      ...itemsOf(report.attempts, factsText),
    ],
  };
}

/** What there is to say of attempts, once for all of which the same is said. */
function itemsOf(attempts: Attempt[], say: (attempt: Attempt) => string): Item[] {
  return grouped(
    attempts.filter((attempt) => say(attempt) !== ""),
    (attempt) => [attempt.task, say(attempt)],
    (same) => ({ head: `${same[0]!.task}, ${attemptsText(same)}`, text: say(same[0]!) }),
  );
}

/** `dtype F32, parameters 500000`: what validation found, by name. */
function factsText({ verdict }: Attempt): string {
  if (verdict.kind === "missing") return "";
  const names = Object.keys(verdict.facts).sort(byText);
  return names.map((name) => `${name} ${verdict.facts[name]}`).join(", ");
}

function scoreCell(attempt: Attempt, metric: Metric): TableCell {
  const score = attempt.scores[metric.name]!;
  switch (score.kind) {
    case "rejected":
      return textCell("rejected", "bad");
    case "not-measured":
      return textCell("not measured", "bad");
    case "scored": {
      const { value, standardError } = score;
      const text = `${digitsText(value, metric.digits)} (${digitsText(standardError, metric.digits, value)})`;
      const way = counting(attempt, metric.name);
      if (way.kind === "failed") return textCell(text, "struck");
      return way.kind === "missing" ? textCell(text, "faint") : textCell(text);
    }
  }
}
