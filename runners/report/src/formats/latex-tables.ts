// A section as LaTeX: its tables as longtables with booktabs' rules, its items as a list.

import type { Column, Section, Table, TableCell } from "../sections/table.ts";
import { latexNumbers, latexText } from "./latex-text.ts";

/** The caption of each table ends with `mark`, the report's label or warning. */
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

/** Characters that fit a landscape page of A4, with text columns at their set width. */
const lineMax = { footnotesize: 165, scriptsize: 190 };
const textColumn = 25;
const gap = 3;

/** A font size in which the table fits the page, up to six agents with long names. */
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
  // a text column wraps, and a table in it would not
  const stacked = rigid && texts.length > 1;
  const text = stacked ? `\\begin{tabular}[t]{@{}r@{}}${texts.join("\\\\")}\\end{tabular}` : texts.join("; ");
  if (mark === "struck") return `\\textit{not counted} ${text}`;
  return mark === "strong" || mark === "bad" ? `\\textbf{${text}}` : text;
}
