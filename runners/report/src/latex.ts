// The report for a paper: a document of its own that compiles as it is, whose tables can be taken out one by
// one. Each says in its caption what its numbers are worth, so that smoke stays smoke wherever it is pasted.
import { latexMainTables } from "./latex-main-table.ts";
import { latexSection } from "./latex-tables.ts";
import { latexText } from "./latex-text.ts";
import type { Report } from "./report.ts";
import { coverageLine, sections } from "./sections.ts";

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
  const { title, label, note } = report;
  const mark = note === "" ? label : note;
  const out = [preamble, `\\section*{${latexText(title)} (${latexText(label)})}`];
  if (note) out.push(`\\textbf{${latexText(note)}}\n`);
  out.push(`${latexText(coverageLine(report))}\n`, ...latexMainTables(report, mark));
  for (const section of sections(report)) out.push(latexSection(section, mark));
  return `${out.join("\n")}\n\\end{document}\n`;
}
