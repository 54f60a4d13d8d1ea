// Describes the metrics; tables only name them.
import type { Report } from "@mlrb/formats/report";
import { metricHead } from "./report-words.ts";
import type { Section } from "./table.ts";

export function metricsSection(report: Report): Section {
  return {
    heading: "Metrics",
    caption: "",
    tables: [],
    items: report.metrics.map((metric) => ({
      head: metricHead(metric),
      text: `${metric.title}${metric.unit ? ` (${metric.unit})` : ""}; ${metric.direction} is better`,
    })),
  };
}
