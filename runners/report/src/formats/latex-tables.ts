// A section as LaTeX: its tables as longtables with booktabs' rules, its items as a list.

import type { Column, Section, Table, TableCell } from "../sections/table.ts";
import { latexNumbers, latexText } from "./latex-text.ts";

/** `mark` stands in the caption of each table: what its numbers are worth. */
export function latexSection({ heading, caption, tables, items }: Section, mark: string): string {
  const out = [`\\subsection*{${latexText(heading)}}`];
  if (caption) out.push(latexText(caption), "");
  for (const table of tables) {
    if (table.groups.length === 0) continue;
    const title = table.title ? `${heading}: ${table.title}` : heading;
    out.push(longTable(table, `${title} (${mark})`));
  }
  if (items.length > 0) {
    const list = items.map(({ head, text }) => `\\item \\textbf{${latexText(head)}}: ${latexText(text)}`);
    out.push("\\begin{itemize}\\raggedright", ...list, "\\end{itemize}");
  }
  return `${out.join("\n")}\n`;
}

function longTable(table: Table, caption: string): string {
  const { columns, groups } = table;
  const heads = `${columns.map(({ head }) => latexText(head)).join(" & ")} \\\\`;
  const out = [
    `{${size(table)}`,
    `\\begin{longtable}{@{}${columns.map(columnType).join("")}@{}}`,
    `\\caption{${latexText(caption)}}\\\\`,
    "\\toprule",
    heads,
    "\\midrule\\endfirsthead",
    "\\toprule",
    heads,
    "\\midrule\\endhead",
    "\\bottomrule\\endlastfoot",
  ];
  for (const [index, { title, rows }] of groups.entries()) {
    if (index > 0) out.push("\\midrule");
    if (title !== "") {
      out.push(`\\multicolumn{${columns.length}}{@{}l@{}}{\\textbf{${latexText(title)}}} \\\\*`);
    }
    for (const row of rows)
      out.push(`${row.map((cell, at) => cellText(cell, columns[at]!)).join(" & ")} \\\\`);
  }
  out.push("\\end{longtable}}");
  return out.join("\n");
}

/** Characters that go on a landscape page of A4, text columns counting as wide as they are set. */
const lineMax = { footnotesize: 165, scriptsize: 190 };
const textColumn = 25;
const gap = 3;

/** A size in which the table is likely to fit the page; six agents with long names do. */
function size({ columns, groups }: Table): string {
  const rows = groups.flatMap((group) => group.rows);
  const widths = columns.map(({ head, rigid }, at) => {
    const longest = Math.max(...[head, ...rows.flatMap((row) => row[at]!.lines)].map((line) => line.length));
    return gap + (rigid ? longest : textColumn);
  });
  const width = widths.reduce((sum, each) => sum + each, 0);
  if (width <= lineMax.footnotesize) return "\\footnotesize";
  return width <= lineMax.scriptsize ? "\\scriptsize" : "\\tiny";
}

function columnType({ rigid }: Column): string {
  return rigid ? "r" : ">{\\raggedright\\arraybackslash}p{36mm}";
}

function cellText({ lines, mark }: TableCell, { rigid }: Column): string {
  const texts = lines.map(rigid ? latexNumbers : latexText);
  // a column of text wraps, which a table in it would not
  const stacked = rigid && texts.length > 1;
  const text = stacked ? `\\begin{tabular}[t]{@{}r@{}}${texts.join("\\\\")}\\end{tabular}` : texts.join("; ");
  if (mark === "struck") return `\\textit{not counted} ${text}`;
  return mark === "strong" || mark === "bad" ? `\\textbf{${text}}` : text;
}
