// The main table for a paper: the metric that decides each task, by agents. Numbers are in siunitx columns, so that
// decimal points and intervals line up. A table holds three agents; more agents need further tables.

import type { Metric, Published, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { footnotes } from "../read/footnotes.ts";
import { meanText } from "../sections/digits-text.ts";
import {
  anchorText,
  floorText,
  importedMarkOf,
  metricHead,
  metricOf,
  publishedText,
  resultsHelp,
} from "../sections/report-words.ts";
import { publishedCaption } from "../sections/results-section.ts";
import { attemptMarks, validHelp, validText } from "../sections/valid-text.ts";
import { latexText } from "./latex-text.ts";

const agentsPerTable = 3;

/** Empty where no task has cells. Each caption ends with `mark`, the report's label or warning. */
export function latexMainTables(report: Report, mark: string): string[] {
  const cells = report.cells.filter(({ primary }) => primary);
  if (cells.length === 0) return [];
  const names = report.agents.map(({ name }) => name);
  const parts = Array.from({ length: Math.ceil(names.length / agentsPerTable) }, (_, index) =>
    names.slice(index * agentsPerTable, (index + 1) * agentsPerTable),
  );
  return parts.map((agents, index) =>
    table(report, {
      cells,
      agents,
      caption:
        "Mean over attempts, with attempts measured of planned and the valid ones" +
        `${[resultsHelp, validHelp, shown(report, cells).length > 0 ? publishedCaption : "", footnotes(report.attempts)].map(continued).join("")}` +
        `${parts.length > 1 ? `; part ${index + 1} of ${parts.length}` : ""} (${mark})`,
    }),
  );
}

function table(
  report: Report,
  { cells, agents, caption }: { cells: Cell[]; agents: string[]; caption: string },
): string {
  const published = shown(report, cells);
  const referenceFormat = (which: "floor" | "anchor") =>
    format(
      cells.flatMap((cell) => {
        const value = cell[which];
        return value === null ? [] : [referenceText(report, cell, which)];
      }),
    );
  const columns = agents.map((agent) => {
    const own = cells.filter((cell) => cell.agent === agent);
    const means = own.flatMap((cell) =>
      cell.mean === null ? [] : [meanText(cell, metricOf(report, cell.metric), cell.mean)],
    );
    return `S[table-format=${format(means)}]>{\\raggedright\\arraybackslash}p{24mm}`;
  });
  const rows = report.tasks.flatMap(({ name: task }) => {
    const ofTask = cells.filter((cell) => cell.task === task);
    if (ofTask.length === 0) return [];
    const metric = metricOf(report, ofTask[0]!.metric);
    const { floor, anchor, anchorName } = ofTask[0]!;
    const others = published.filter((each) => each.task === task);
    return [
      [
        latexText(task),
        latexText(metricHead(metric)),
        ...agents.flatMap((agent) =>
          agentCells(
            ofTask.find((cell) => cell.agent === agent),
            metric,
            report.attempts,
          ),
        ),
        floor === null ? "{unknown}" : tableNumber(referenceText(report, ofTask[0]!, "floor")),
        anchor === null
          ? `{${anchorName === null ? "--" : "unknown"}}`
          : tableNumber(referenceText(report, ofTask[0]!, "anchor")),
        ...(published.length === 0
          ? []
          : [latexText(others.map((each) => publishedText(each, metric)).join("; "))]),
      ],
    ];
  });
  const heads = agents.map((agent) => `\\multicolumn{2}{c}{${latexText(agent)}}`);
  const rules = agents.map((_, index) => `\\cmidrule(lr){${3 + 2 * index}-${4 + 2 * index}}`);
  const line = (fields: string[]) => `${fields.join(" & ")} \\\\`;
  return [
    "\\begin{table}[htbp]",
    "\\centering",
    `\\caption{${latexText(caption)}}\\smallskip`,
    `\\begin{tabular}{@{}ll${columns.join("")}S[table-format=${referenceFormat("floor")}]S[table-format=${referenceFormat("anchor")}]` +
      `${published.length === 0 ? "" : ">{\\raggedright\\arraybackslash}p{40mm}"}@{}}`,
    "\\toprule",
    line(["", "", ...heads, "{trivial}", "{reference}", ...(published.length === 0 ? [] : [""])]),
    rules.join(""),
    line([
      "task",
      "metric",
      ...agents.flatMap(() => ["{mean}", "{attempts}"]),
      "{baseline}",
      "{model}",
      ...(published.length === 0 ? [] : ["published"]),
    ]),
    "\\midrule",
    ...rows.map(line),
    "\\bottomrule",
    "\\end{tabular}",
    "\\end{table}",
  ].join("\n");
}

/** The trivial baseline or the reference model of a cell that has one. */
function referenceText(report: Report, cell: Cell, which: "floor" | "anchor"): string {
  const text = which === "floor" ? floorText : anchorText;
  return text(cell, metricOf(report, cell.metric), report.rows);
}

/** A sentence after another one, without its full stop, which comes later. */
function continued(sentence: string): string {
  return sentence === "" ? "" : `. ${sentence.replace(/\.$/, "")}`;
}

/** Published values of the metrics that `cells` are of. */
function shown(report: Report, cells: Cell[]): Published[] {
  return report.published.filter(({ task, metric }) =>
    cells.some((cell) => cell.task === task && cell.metric === metric),
  );
}

function agentCells(cell: Cell | undefined, metric: Metric, attempts: Attempt[]): [string, string] {
  if (!cell) return ["{not planned}", ""];
  const marks = [`${cell.measured}/${cell.planned}${importedMarkOf(cell, attempts)}`];
  if (cell.undecided > 0) marks.push(`${cell.undecided} undecided`);
  if (cell.struck > 0) marks.push(`${cell.struck} disqualified`);
  if (cell.rejected > 0) marks.push(`${cell.rejected} rejected`);
  marks.push(...attemptMarks(cell));
  if (cell.measured > 0)
    marks.push(cell.validMean === null ? "none valid" : `valid ${validText(cell, metric)}`);
  const number =
    cell.mean === null
      ? `{${cell.measured === 0 ? "not measured" : "no mean"}}`
      : tableNumber(meanText(cell, metric, cell.mean));
  return [number, latexText(marks.join("; "))];
}

/** For an S column; a number too large for one is set as text. */
function tableNumber(number: string): string {
  return number.includes("e") ? `{\\num{${number}}}` : number;
}

/** siunitx' `-2.3`: digits before and after the point. */
function format(values: string[]): string {
  const plain = values.filter((value) => !value.includes("e"));
  const sign = plain.some((value) => value.startsWith("-")) ? "-" : "";
  const before = Math.max(1, ...plain.map((value) => value.replace("-", "").split(".")[0]!.length));
  const after = Math.max(0, ...plain.map((value) => value.split(".")[1]?.length ?? 0));
  return `${sign}${before}.${after}`;
}
