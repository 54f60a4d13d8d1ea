// The report for a paper: a complete document that inputs the tables of `tables/` and has the further ones in full. Each
// caption has the report's label or warning, so that numbers of a smoke test stay marked wherever they are pasted.

import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import { costCaption } from "../paper/cost-figure.ts";
import { costTable } from "../paper/costs.ts";
import { forestCaption } from "../paper/forest-figure.ts";
import { paperTables } from "../paper/paper-tables.ts";
import { setUpHeading } from "../paper/set-up-section.ts";
import { labelText } from "../read/condition-words.ts";
import { headline } from "../sections/headline.ts";
import { coverageLine, plainSection, sections } from "../sections/sections.ts";
import type { Section } from "../sections/table.ts";
import { paperTableFiles } from "./latex-paper-table.ts";
import { latexSection } from "./latex-tables.ts";
import { latexText } from "./latex-text.ts";

const preamble = `% A table elsewhere needs the packages array, booktabs, longtable and siunitx, set up as here.
\\documentclass[a4paper]{article}
\\usepackage[T1]{fontenc}
\\usepackage[utf8]{inputenc}
\\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{}
\\usepackage[landscape,margin=12mm]{geometry}
\\usepackage{array,booktabs,graphicx,longtable,siunitx}
\\sisetup{separate-uncertainty=true,group-digits=false}
\\begin{document}
\\setlength{\\LTcapwidth}{0.9\\textwidth}
\\footnotesize
`;

/**
 * report.tex, for pdfLaTeX, ending with a line break. It inputs the files of `tables/`, the one of costs included, which
 * is apart from the report.
 */
export function latex(report: Report): string {
  const mark = markOf(report);
  const costs = costTableNames(report);
  const named = (names: string[]) => names.map((name) => `tables/${name.replace(".tex", "")}`);
  return latexDocument(report, [
    ...[...headline(report), coverageLine(report)].map((line) => `${latexText(line)}\n`),
    ...named(Object.keys(tableFiles(report))).map((name) => `\\input{${name}}`),
    // where only the report was kept, its costs are not
    ...named(costs).map((name) => `\\InputIfFileExists{${name}}{}{}`),
    ...Object.entries({ scores: forestCaption, cost: costCaption }).map((figure) => figureText(figure, mark)),
    "\\clearpage",
    ...sections(report)
      .filter(({ heading }) => heading !== setUpHeading)
      .map((section) => latexSection(section, mark)),
  ]);
}

/** A figure exists where there are normalised scores, and costs. Its PDF has no label of its own, so the caption has it. */
function figureText([name, caption]: [string, string], mark: string): string {
  const file = `figures/${name}.pdf`;
  const image = `\\includegraphics[width=5.5in]{${file}}`;
  const float = `\\begin{figure*}[!htbp]\\centering${image}\\caption{${latexText(`${caption} (${mark})`)}}\\label{fig:mlrb-${name}}\\end{figure*}`;
  return `\\IfFileExists{${file}}{${float}}{}`;
}

/** The files of `tables/` by name, except that of costs. */
export function tableFiles(report: Report): Record<string, string> {
  return Object.assign({}, ...paperTables(report).map((table) => paperTableFiles(table, marksOf(report))));
}

/** The files of costs by name. */
export function costTableFiles(report: Report, times: Times): Record<string, string> {
  return paperTableFiles(costTable(report, times), marksOf(report));
}

/** How many there are depends on the costs, which are apart from the report: a page has ten agents at a task or more. */
function costTableNames({ tasks, agents }: Report): string[] {
  const most = Math.max(1, tasks.length * Math.ceil(agents.length / 10));
  return Array.from({ length: most }, (_, at) => (at === 0 ? "cost.tex" : `cost-${at + 1}.tex`));
}

/** A complete document with one section, such as groups.tex. */
export function latexFile(head: FileHead, section: Section): string {
  return latexDocument(head, [latexSection(plainSection(section), markOf(head))]);
}

type FileHead = Pick<Report, "title" | "label" | "note" | "attempts">;

function latexDocument(head: FileHead, parts: string[]): string {
  const { title, note } = head;
  const out = [preamble, `\\section*{${latexText(title)} (${latexText(labelText(head))})}`];
  if (note) out.push(`\\textbf{${latexText(note)}}\n`);
  return `${[...out, ...parts].join("\n")}\n\\end{document}\n`;
}

function marksOf(head: FileHead): { mark: string; label: string } {
  return { mark: markOf(head), label: labelText(head) };
}

/** The end of each caption: the warning, else the label with the condition. */
function markOf(head: FileHead): string {
  return head.note === "" ? labelText(head) : head.note;
}
