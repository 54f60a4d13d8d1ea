// Describes the metrics; tables only name them.
import type { Report } from "@mlrb/formats/report";
import { metricOf, type ShownMetric } from "../units/shown-metric.ts";
import { metricHead } from "./report-words.ts";
import type { Section } from "./table.ts";

export function metricsSection(report: Report): Section {
  return {
    heading: "Metrics",
    caption: "",
    tables: [],
    items: report.metrics.map((metric) => ({
      head: metricHead(metric),
      text: `${metric.title}${unitText(metricOf(report, metric.name), metric.unit)}; ${metric.direction} is better`,
    })),
  };
}

/** `unit` is that of report.json and the CSV files. */
function unitText({ headUnit }: ShownMetric, unit: string): string {
  if (unit === "") return "";
  return headUnit === null ? ` (${unit})` : ` (${unit}, printed in ${headUnit})`;
}
