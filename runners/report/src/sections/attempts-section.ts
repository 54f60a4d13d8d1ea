// Every attempt, valid or not, with its submission and the facts found in it.

import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "../compare/counting.ts";
import { attemptMarks, marksOf } from "../read/attempt-marks.ts";
import { type GpuClass, gpuClasses, gpuMark, otherGpus } from "../read/gpu-words.ts";
import { byText } from "../read/order.ts";
import { metricOf, type ShownMetric } from "../units/shown-metric.ts";
import { digitsText, supportedDigits } from "./digits-text.ts";
import { attemptItems, metricHead, shortDigest, taskTitle, verdictText } from "./report-words.ts";
import { type Item, type Mark, type Section, type TableCell, textCell } from "./table.ts";
import { column, numeric, oneGroup, tableOf } from "./table-of.ts";

export function attemptsSection(report: Report): Section {
  const implausible = report.cells.some((cell) => cell.implausible.length > 0);
  const gpus = gpuClasses(report);
  const disqualified = report.attempts.some(({ verdict }) => verdict.kind === "disqualified");
  return {
    heading: "Attempts",
    caption: `Score (standard error over items).${implausible ? " ? marks an implausible score: see the notes under Results." : ""}${disqualified ? " ~Crossed-out~ scores do not count: the attempt is scored at the trivial baseline." : ""}`,
    tables: report.tasks.map(({ name: task }) => {
      const cells = report.cells.filter((cell) => cell.task === task);
      const metrics = [...new Set(cells.map(({ metric }) => metric))].map((name) => metricOf(report, name));
      const attempts = report.attempts.filter((attempt) => attempt.task === task);
      return tableOf(taskTitle(report, task), oneGroup(attempts), [
        column("agent", ({ agent }) => agent),
        numeric("seed", (attempt) => seedCell(attempt, footnoteMarks(attempt, gpus))),
        column("verdict", ({ verdict }) => textCell(verdictText(verdict), verdictMarks[verdict.kind])),
        ...metrics.map((metric) =>
          numeric(metricHead(metric), (attempt: Attempt) => scoreCell(attempt, metric, cells)),
        ),
        numeric("submission", ({ submission }) =>
          textCell(submission === null ? "none" : shortDigest(submission), "faint"),
        ),
      ]);
    }),
    items: [
      ...itemsOf(report.attempts, (attempt) => withMark("†", attempt.note)),
      ...attemptMarks.flatMap(({ mark, text }) =>
        itemsOf(report.attempts, (attempt) => withMark(mark, text(attempt))),
      ),
      ...itemsOf(report.attempts, (attempt) => withMark(gpuMark, otherGpus(gpus, attempt))),
      ...itemsOf(report.attempts, factsText),
    ],
  };
}

const verdictMarks: Record<Attempt["verdict"]["kind"], Mark | undefined> = {
  pass: undefined,
  undecided: "strong",
  disqualified: "bad",
  rejected: "bad",
  missing: "bad",
};

/** Marks of the items below that are about the attempt. */
export function footnoteMarks(attempt: Attempt, gpus: GpuClass[]): string {
  const own = otherGpus(gpus, attempt) === "" ? "" : gpuMark;
  return `${attempt.note === "" ? "" : "†"}${marksOf(attempt)}${own}`;
}

function withMark(mark: string, text: string): string {
  return text === "" ? "" : `${mark} ${text}`;
}

/** A seed that leads to its attempt on the page. */
export function seedCell({ task, agent, seed }: Attempt, mark = ""): TableCell {
  return { ...textCell(`${seed}${mark}`), about: { task, agent, seed } };
}

function itemsOf(attempts: Attempt[], textOf: (attempt: Attempt) => string): Item[] {
  const found = attempts.map((attempt) => ({ attempt, text: textOf(attempt) }));
  return attemptItems(found.filter(({ text }) => text !== ""));
}

/** `dtype F32, parameters 500000`: facts found by validation, by name. */
function factsText({ verdict }: Attempt): string {
  if (verdict.kind === "missing") return "";
  const names = Object.keys(verdict.facts).sort(byText);
  return names.map((name) => `${name} ${verdict.facts[name]}`).join(", ");
}

/** `cells` are those of the attempt's task. */
function scoreCell(attempt: Attempt, metric: ShownMetric, cells: Cell[]): TableCell {
  const score = attempt.scores[metric.name]!;
  switch (score.kind) {
    case "rejected":
      return textCell("rejected", "bad");
    case "not-measured":
      return textCell("not measured", "bad");
    case "scored": {
      const { value, standardError } = score;
      const digits = supportedDigits(metric.digits, standardError);
      const text = `${digitsText(value, digits)} (${digitsText(standardError, digits, value)})`;
      const way = counting(attempt, metric.name);
      if (way.kind === "failed") return textCell(text, "crossed-out");
      if (way.kind === "missing") return textCell(text, "faint");
      const marked = cells
        .find((cell) => cell.agent === attempt.agent && cell.metric === metric.name)
        ?.implausible.some(({ seed }) => seed === attempt.seed);
      return marked ? textCell(`${text} ?`, "bad") : textCell(text);
    }
  }
}
