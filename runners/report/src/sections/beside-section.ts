// What scorers measured beside their scores: what a model costs to use, its size and speed, how many ties or
// answers cut short. Nothing is decided by it; a score is read with it.

import type { Report } from "@mlrb/formats/report";
import { meansByName, type NamedMean } from "../compare/means-by-name.ts";
import { validMeanCell } from "../compare/valid-mean-cell.ts";
import { digitsText } from "./digits-text.ts";
import { metricHead, metricOf, taskTitle } from "./report-words.ts";
import { type Section, textCell } from "./table.ts";

/** One entry for each task, metric and name. */
export function beside(report: Report): NamedMean<{ value: number }>[] {
  return meansByName(report, ({ extra }) =>
    Object.entries(extra).map(([name, value]): [string, { value: number }] => [name, { value }]),
  );
}

export function besideSection(report: Report): Section {
  const agents = report.agents.map(({ name }) => name);
  const all = beside(report);
  return {
    heading: `Secondary measurements${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Mean over the valid attempts (valid/planned), in the units of the scorer's README. Seconds and memory depend " +
      "on the machine.",
    tables: [
      {
        title: "",
        columns: [
          { head: "metric", rigid: false },
          { head: "measurement", rigid: false },
          ...agents.map((head) => ({ head, rigid: true })),
        ],
        groups: report.tasks
          .map(({ name }) => ({
            name,
            title: taskTitle(report, name),
            rows: all
              .filter(({ task }) => task === name)
              .map(({ metric, name: what, agents: means }) => [
                textCell(metricHead(metricOf(report, metric))),
                textCell(what),
                ...agents.map((agent) =>
                  validMeanCell(
                    means.find((each) => each.agent === agent),
                    shown,
                  ),
                ),
              ]),
          }))
          .filter(({ rows }) => rows.length > 0),
      },
    ],
    items: [],
  };
}

/** Whole numbers whole, others to four digits that count. */
function shown(value: number): string {
  return Number.isInteger(value) ? digitsText(value, 0) : String(Number(value.toPrecision(4)));
}
