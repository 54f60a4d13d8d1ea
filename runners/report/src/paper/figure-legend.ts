// The agents above a figure, each with its mark.
import type { Report } from "@mlrb/formats/report";
import { displayNames } from "./display-names.ts";
import type { PdfPage } from "./pdf-page.ts";

type LegendEntry = { agent: number; text: string };

const legendWidth = 126;

/** Three agents in a line. */
export function legendLines(report: Report): LegendEntry[][] {
  const names = displayNames(report);
  const entries = report.agents.map(({ name }, agent) => ({ agent, text: names.agent(name) }));
  return Array.from({ length: Math.ceil(entries.length / 3) }, (_, at) => entries.slice(3 * at, 3 * at + 3));
}

export function drawLegend(page: PdfPage, line: LegendEntry[], y: number): void {
  for (const [at, { agent, text }] of line.entries()) {
    const x = 8 + at * legendWidth;
    page.mark({ x, y }, agent);
    const size = Math.min(7.5, (7.5 * (legendWidth - 12)) / page.widthOf(text));
    page.text({ x: x + 6, y }, text, { size });
  }
}
