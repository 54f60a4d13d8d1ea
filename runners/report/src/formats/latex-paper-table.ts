// A table for a paper: a file that is a whole float with caption and label where it is read alone, and a bare
// tabular inside an author's own table environment. It needs the packages array and booktabs, and fits 5.5 in.
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
/** Of characters in Computer Modern at 8 points, in sizes of the font. The first kind that a character is of. */
const characterWidths: [RegExp, number][] = [
  [/[mMW%×−±]/u, 0.98],
  [/[wA-Z]/, 0.82],
  [/[ijlftr .,:;()[\]'!|/-]/, 0.42],
  [/[\d\p{P}]/u, 0.54],
  [/./u, 0.61],
];
const strongWidth = 1.15;
/** In points. The first in which the table fits. */
const fontSizes = [8, 7, 6, 5];
const gap = 6;
/** Of the rows, in points. With a head of five lines and a caption, they fit the 9 in of a page of NeurIPS. */
const heightMax = 400;
const leading = 1.2;
const groupGap = 2;
/** In sizes of the font. A longer word is broken only where it has more than `wordWidthMax`. */
const textWidthMin = 6.5;
const wordWidthMax = 9;

type Row = { group: string; cells: TableCell[] };

/** The warning or label at the end of a caption, and the label in a comment. */
type Marks = { mark: string; label: string };

/** Widths of the columns in points, in a font of `size` points. */
type Layout = { size: number; widths: number[] };

/** The first line of each file: the data behind its numbers, as a comment. */
export function dataLine(label: string): string {
  return `% Data: ${latexText(label)}.\n`;
}

/** Texts by file name. A table that is higher than a page continues in `NAME-2.tex` and so on. */
export function paperTableFiles(given: PaperTable, marks: Marks): Record<string, string> {
  const { columns, groups } = given.table;
  const rows = groups.flatMap(({ title, rows: own }) => own.map((cells): Row => ({ group: title, cells })));
  const layout = fitted(columns, rows);
  const parts = partsOf(rows, layout);
  return Object.fromEntries(
    parts.map((own, at) => {
      const name = at === 0 ? given.name : `${given.name}-${at + 1}`;
      const part = parts.length > 1 ? ` Part ${at + 1} of ${parts.length}.` : "";
      const caption = `${given.caption}${part} (${marks.mark})`;
      const text = fileText({ ...given, name, caption }, own, layout);
      return [`${name}.tex`, `${dataLine(marks.label)}${text}`];
    }),
  );
}

/**
 * LaTeX drops what is below the end of a page, so the height of each row is estimated from its wrapped cells. A
 * group is cut only where it is higher than a page.
 */
function partsOf(rows: Row[], { size, widths }: Layout): Row[][] {
  const line = leading * size;
  const heights = rows.map(({ cells }) =>
    Math.max(...cells.map((cell, at) => line * lineCount(cell, widths[at]! / size))),
  );
  const parts: Row[][] = [];
  let height = 0;
  for (const [at, row] of rows.entries()) {
    const isFirst = at === 0 || rows[at - 1]!.group !== row.group;
    const title = row.group === "" ? 0 : line + groupGap;
    const rest = rows.findIndex(({ group }, other) => other > at && group !== row.group);
    const whole = title + sum(heights.slice(at, rest < 0 ? rows.length : rest));
    const own = isFirst && whole <= heightMax ? whole : heights[at]! + (isFirst ? title : 0);
    if (parts.length === 0 || height + own > heightMax) {
      parts.push([]);
      height = isFirst ? 0 : title;
    }
    parts.at(-1)!.push(row);
    height += heights[at]! + (isFirst ? title : 0);
  }
  return parts;
}

/** Of a cell whose text wraps at spaces and hyphens; `width` in sizes of the font. */
function lineCount({ lines, mark }: TableCell, width: number): number {
  let count = 1;
  let at = 0;
  for (const word of lines.join("; ").split(/(?<=[ -])/)) {
    const own = markedWidth(word.trimEnd(), mark);
    if (at > 0 && at + own > width + 0.01) {
      count++;
      at = 0;
    }
    count += Math.max(0, Math.ceil((own - 0.01) / width) - 1);
    at += markedWidth(word, mark);
  }
  return count;
}

function fileText({ name, caption, table }: PaperTable, rows: Row[], { size, widths }: Layout): string {
  const { columns } = table;
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
    "\\begin{table*}[!htbp]\\centering",
    `\\caption{${latexText(caption)}}\\label{tab:mlrb-${name}}\\smallskip`,
    "\\def\\mlrbend{\\end{table*}}\\fi",
    `{\\fontsize{${size}}{${(leading * size).toFixed(1)}}\\selectfont\\setlength{\\tabcolsep}{${gap / 2}pt}%`,
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
  return at === 0 ? [title] : [`\\addlinespace[${groupGap}pt]`, title];
}

/** A space of no width before a word lets LaTeX hyphenate it. */
function cellText({ lines, mark }: TableCell, { rigid }: Column): string {
  const text = rigid
    ? lines.map(latexPlainNumbers).join("; ")
    : lines.map((each) => `\\hspace{0pt}${latexText(each)}`).join("; ");
  return mark === "strong" ? `\\textbf{${text}}` : text;
}

/** The largest font in which the columns fit. */
function fitted(columns: Column[], rows: Row[]): Layout {
  const natural = columns.map(({ head, rigid }, at) => {
    const contents = rows.map(({ cells }) => contentWidth(cells[at]!));
    return Math.max(...contents, rigid ? headWidth(head) : textWidth(head));
  });
  const least = columns.map(({ head, rigid }, at) => {
    if (rigid) return natural[at]!;
    const texts = [head, ...rows.flatMap(({ cells }) => cells[at]!.lines)];
    const longestWord = Math.min(wordWidthMax, Math.max(...texts.map(headWidth)));
    return Math.min(natural[at]!, Math.max(textWidthMin, longestWord));
  });
  const room = (size: number) => (widthMax - gap * (columns.length - 1)) / size;
  const size = fontSizes.find((each) => sum(least) <= room(each)) ?? fontSizes.at(-1)!;
  return { size, widths: shared(natural, least, room(size)).map((width) => width * size) };
}

function contentWidth({ lines, mark }: TableCell): number {
  return markedWidth(lines.join("; "), mark);
}

function markedWidth(text: string, mark: TableCell["mark"]): number {
  return textWidth(text) * (mark === "strong" ? strongWidth : 1);
}

function textWidth(text: string): number {
  // a power of ten is set in full
  const set = text.replaceAll(/(?<=\d)e(?=[+-]\d)/g, "×10");
  return sum([...set].map((each) => characterWidths.find(([kind]) => kind.test(each))?.[1] ?? 1));
}

function sum(all: number[]): number {
  return all.reduce((total, each) => total + each, 0);
}

/** Of the widest word of a text that wraps at spaces and hyphens, in sizes of the font. */
export function headWidth(head: string): number {
  return Math.max(...head.split(/(?<=-)| /).map((word) => textWidth(word) + 0.2));
}

/** `natural` widths cut to `room`: first the widest columns above their `least`, then all. */
function shared(natural: number[], least: number[], room: number): number[] {
  const widths = [...natural];
  let excess = sum(widths) - room;
  while (excess > 0) {
    const shrinkable = widths.map((each, at) => (each > least[at]! ? each : 0));
    const widest = Math.max(...shrinkable);
    if (widest === 0) return widths.map((each) => (each * room) / (room + excess));
    const cut = Math.min(0.1, excess);
    widths[shrinkable.indexOf(widest)]! -= cut;
    excess -= cut;
  }
  return widths;
}
