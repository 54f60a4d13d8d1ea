// What a paper inputs: tables, and floats of the figures. Each caption has the report's label or warning, so that
// numbers of a smoke test stay marked wherever they are pasted.

import type { Report } from "@mlrb/formats/report";
import type { ProtocolResult } from "@mlrb/formats/report/protocol";
import type { Times } from "@mlrb/formats/times";
import { profilesCaption } from "../page/charts/profiles.ts";
import { costCaption } from "../paper/cost-figure.ts";
import { costTable } from "../paper/costs.ts";
import { doseCaption } from "../paper/dose-figure.ts";
import { forestCaption } from "../paper/forest-figure.ts";
import { overTimeCaption } from "../paper/over-time-figure.ts";
import { paperTables } from "../paper/paper-tables.ts";
import { protocolSection } from "../protocol/protocol-section.ts";
import { labelText } from "../read/condition-words.ts";
import { headline } from "../sections/headline.ts";
import { coverageLine } from "../sections/sections.ts";
import { dataLine, paperTableFiles } from "./latex-paper-table.ts";
import { latexText } from "./latex-text.ts";

/** All files of `tables/` by name that the report decides: not those of costs. */
export function paperFiles(report: Report): Record<string, string> {
  return { ...tableFiles(report), "headline.tex": headlineFile(report) };
}

/** The first lines of the report as a paragraph. */
function headlineFile(report: Report): string {
  const lines = [...headline(report), coverageLine(report)].map(latexText);
  return `${dataLine(labelText(report))}{\\raggedright ${lines.join("\n")}\\par}\n`;
}

const figureCaptions = {
  scores: forestCaption,
  cost: costCaption,
  "over-time": overTimeCaption,
  dose: doseCaption,
  profiles: profilesCaption,
};

/** The float of `figures/NAME.pdf`, for which a paper needs graphicx. The PDF has no label of its own. */
export function figureFile(report: Report, name: keyof typeof figureCaptions): string {
  const caption = `${figureCaptions[name]} (${markOf(report)})`;
  return `${dataLine(labelText(report))}\\begin{figure*}[!htbp]\\centering\\includegraphics[width=5.5in]{figures/${name}.pdf}\\caption{${latexText(caption)}}\\label{fig:mlrb-${name}}\\end{figure*}\n`;
}

/** The main tables by file name. */
export function tableFiles(report: Report): Record<string, string> {
  return Object.assign({}, ...paperTables(report).map((table) => paperTableFiles(table, marksOf(report))));
}

/** The files of costs by name. */
export function costTableFiles(report: Report, times: Times): Record<string, string> {
  return paperTableFiles(costTable(report, times), marksOf(report));
}

/** protocol.tex: the protocol as the caption of its departures. */
export function protocolTable(report: Report, protocol: ProtocolResult): string {
  const { caption, tables } = protocolSection(protocol);
  const table = { name: "protocol", caption, table: tables[0]! };
  return Object.values(paperTableFiles(table, marksOf(report))).join("\n");
}

function marksOf(report: Report): { mark: string; label: string } {
  return { mark: markOf(report), label: labelText(report) };
}

/** The end of each caption: the warning, else the label with the condition. */
function markOf(report: Report): string {
  return report.note === "" ? labelText(report) : report.note;
}
