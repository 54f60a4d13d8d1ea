// The report for a paper: a complete document whose tables can be copied one by one. Each caption has the report's
// label or warning, so that numbers of a smoke test stay marked wherever they are pasted.

import type { Report } from "@mlrb/formats/report";
import { labelText } from "../read/condition-words.ts";
import { coverageLine, plainSection, sections } from "../sections/sections.ts";
import type { Section } from "../sections/table.ts";
import { latexMainTables } from "./latex-main-table.ts";
import { latexSection } from "./latex-tables.ts";
import { latexText } from "./latex-text.ts";

const preamble = `% A table elsewhere needs the packages array, booktabs, longtable and siunitx, set up as here.
\\documentclass[a4paper]{article}
\\usepackage[T1]{fontenc}
\\usepackage[utf8]{inputenc}
\\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{}
\\usepackage[landscape,margin=12mm]{geometry}
\\usepackage{array,booktabs,longtable,siunitx}
\\sisetup{separate-uncertainty=true,group-digits=false}
\\begin{document}
\\setlength{\\LTcapwidth}{0.9\\textwidth}
\\footnotesize
`;

/** report.tex, for pdfLaTeX, ending with a line break. */
export function latex(report: Report): string {
  const mark = markOf(report);
  return latexDocument(report, [
    `${latexText(coverageLine(report))}\n`,
    ...latexMainTables(report, mark),
    ...sections(report).map((section) => latexSection(section, mark)),
  ]);
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

/** The end of each caption: the warning, else the label with the condition. */
function markOf(head: FileHead): string {
  return head.note === "" ? labelText(head) : head.note;
}
