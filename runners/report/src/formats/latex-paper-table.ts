// A table for a paper: a file that is a whole float with caption and label where it is read alone, and a bare tabular
// inside an author's own table environment. It needs the packages array and booktabs, and fits 5.5 in.
import type { Column, Table, TableCell } from "../sections/table.ts";
import { latexPlainNumbers, latexText } from "./latex-text.ts";

export type PaperTable = {
  /** Of the file and of the label, e.g. main. */
  name: string;
  caption: string;
  /** The title of a group is a line of its own above its rows. */
  table: Table;
};

/** In points of TeX: 5.5 in, the width of the text in NeurIPS. */
const widthMax = 397.4;
/** Of a character in Computer Modern at 8 points, in sizes of the font: digits have 0.53, words like unknown 0.6. */
const characterWidth = { digit: 0.54, letter: 0.61, strong: 0.64 };
/** In points. The first in which the table fits. */
const fontSizes = [8, 7, 6, 5];
const gap = 6;
/** With headings and a caption, what fits a page. */
const rowsMax = 40;
/** In sizes of the font. */
const textWidthMin = 6.5;

type Row = { group: string; cells: TableCell[] };

/** The warning or label at the end of a caption, and the label in a comment. */
type Marks = { mark: string; label: string };

/** Texts by file name. A table of more rows than fit a page continues in `NAME-2.tex` and so on. */
export function paperTableFiles(given: PaperTable, marks: Marks): Record<string, string> {
  const rows = given.table.groups.flatMap(({ title, rows: own }) =>
    own.map((cells): Row => ({ group: title, cells })),
  );
  const parts = Math.ceil(rows.length / rowsMax);
  return Object.fromEntries(
    Array.from({ length: parts }, (_, at) => {
      const name = at === 0 ? given.name : `${given.name}-${at + 1}`;
      const part = parts > 1 ? ` Part ${at + 1} of ${parts}.` : "";
      const caption = `${given.caption}${part} (${marks.mark})`;
      const own = rows.slice(at * rowsMax, (at + 1) * rowsMax);
      return [
        `${name}.tex`,
        `% Data: ${latexText(marks.label)}.\n${fileText({ ...given, name, caption }, own)}`,
      ];
    }),
  );
}

function fileText({ name, caption, table: { columns } }: PaperTable, rows: Row[]): string {
  const { size, widths } = fitted(columns, rows);
  const spec = widths.map((width, at) => {
    const align = columns[at]!.rigid ? "\\raggedleft" : "\\raggedright";
    return `>{${align}\\arraybackslash}p{${width.toFixed(1)}pt}`;
  });
  const line = (texts: string[]) => `${texts.join(" & ")} \\\\`;
  const body = rows.flatMap(({ group, cells }, at) => [
    ...(group === "" || rows[at - 1]?.group === group ? [] : groupLines(group, columns.length, at)),
    line(cells.map((cell, column) => cellText(cell, columns[column]!))),
  ]);
  return `${[
    "% Alone: a float with caption and label. Inside a table environment: only the tabular.",
    "% Packages: array, booktabs; T1 fonts.",
    "\\ifcsname @captype\\endcsname\\def\\mlrbend{}\\else",
    "\\begin{table*}[tbp]\\centering",
    `\\caption{${latexText(caption)}}\\label{tab:mlrb-${name}}\\smallskip`,
    "\\def\\mlrbend{\\end{table*}}\\fi",
    `{\\fontsize{${size}}{${(1.2 * size).toFixed(1)}}\\selectfont\\setlength{\\tabcolsep}{${gap / 2}pt}%`,
    `\\begin{tabular}{@{}${spec.join("")}@{}}`,
    "\\toprule",
    line(columns.map(({ head }) => `\\hspace{0pt}${latexText(head)}`)),
    "\\midrule",
    ...body,
    "\\bottomrule",
    "\\end{tabular}}\\mlrbend",
  ].join("\n")}\n`;
}

function groupLines(group: string, columns: number, at: number): string[] {
  const title = `\\multicolumn{${columns}}{@{}l@{}}{\\textit{${latexText(group)}}} \\\\*`;
  return at === 0 ? [title] : ["\\addlinespace[2pt]", title];
}

/** A space of no width before a word lets LaTeX hyphenate it. */
function cellText({ lines, mark }: TableCell, { rigid }: Column): string {
  const text = rigid
    ? lines.map(latexPlainNumbers).join("; ")
    : lines.map((each) => `\\hspace{0pt}${latexText(each)}`).join("; ");
  return mark === "strong" ? `\\textbf{${text}}` : text;
}

/** The largest font in which the columns fit, and their widths in points. */
function fitted(columns: Column[], rows: Row[]): { size: number; widths: number[] } {
  const natural = columns.map(({ head, rigid }, at) => {
    const contents = rows.map(({ cells }) => contentWidth(cells[at]!));
    return Math.max(...contents, rigid ? headWidth(head) : textWidth(head));
  });
  const room = (size: number) => (widthMax - gap * (columns.length - 1)) / size;
  const least = columns.reduce(
    (sum, { rigid }, at) => sum + (rigid ? natural[at]! : Math.min(natural[at]!, textWidthMin)),
    0,
  );
  const size = fontSizes.find((each) => least <= room(each)) ?? fontSizes.at(-1)!;
  return { size, widths: shared(natural, columns, room(size)).map((width) => width * size) };
}

function contentWidth({ lines, mark }: TableCell): number {
  const text = lines.join("; ");
  return mark === "strong" ? [...text].length * characterWidth.strong : textWidth(text);
}

function textWidth(text: string): number {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return letters * characterWidth.letter + ([...text].length - letters) * characterWidth.digit;
}

/** Of a head that wraps at spaces and hyphens, in sizes of the font. */
export function headWidth(head: string): number {
  return Math.max(...head.split(/(?<=-)| /).map((word) => textWidth(word) + 0.2));
}

/** `natural` widths cut to `room`: first the widest columns of text, then all. */
function shared(natural: number[], columns: Column[], room: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, each) => sum + each, 0) - room;
  while (excess > 0) {
    const shrinkable = widths.map((each, at) => (!columns[at]!.rigid && each > textWidthMin ? each : 0));
    const widest = Math.max(...shrinkable);
    if (widest === 0) return widths.map((each) => (each * room) / (room + excess));
    const cut = Math.min(0.1, excess);
    widths[shrinkable.indexOf(widest)]! -= cut;
    excess -= cut;
  }
  return widths;
}
