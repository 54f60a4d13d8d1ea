// The report for a terminal. Width and colour are arguments, so that the same report at the same width is the same
// text.
import type { Report } from "@mlrb/formats/report";
import { labelText } from "../read/condition-words.ts";
import { plainText } from "../read/plain-text.ts";
import { headline } from "../sections/headline.ts";
import { resultsSection } from "../sections/results-section.ts";
import { coverageLine, plainSection, sections } from "../sections/sections.ts";
import type { Section, Table } from "../sections/table.ts";
import { layTable, paint } from "./terminal-layout.ts";
import { wrap } from "./terminal-text.ts";

const widthMin = 40;
const proseMax = 100;

type Look = { width: number; color: boolean };

/** The whole report in lines of at most `width` columns (never under 40), ending with a line break. */
export function terminalTable(report: Report, given: Look): string {
  const look = measured(given);
  const out = head(report, look);
  for (const line of [...headline(report), coverageLine(report)]) out.push(...look.prose(line));
  for (const section of sections(report)) out.push("", ...lay(section, look));
  return `${out.join("\n")}\n`;
}

/** Who is ahead, alone: the title and the table of means. Everything else is in `terminalTable`. */
export function terminalMainTable(report: Report, given: Look): string {
  const look = measured(given);
  const means: Section = {
    heading: "",
    caption:
      "Mean over attempts (measured/planned); * decides the task. Attempts that are invalid, disqualified or worse than the trivial baseline count as that baseline.",
    tables: [meansTable(report)],
    items: [],
  };
  const [, ...laid] = lay(means, look);
  const lines = headline(report).flatMap(look.prose);
  return `${[...head(report, look), ...lines, ...laid].join("\n")}\n`;
}

function meansTable(report: Report): Table {
  return { ...plainSection(resultsSection(report)).tables[0]!, title: "" };
}

/** The lines of the table of means alone. */
export function terminalMeans(report: Report, { width, color }: Look): string[] {
  return layTable(meansTable(report), { width, color }).split("\n");
}

function head(report: Report, { color, prose }: Measured): string[] {
  const title = plainText(`${report.title} (${labelText(report)})`);
  const out = prose(title).map((line) => paint(line, "strong", color));
  if (report.note) out.push(...prose(plainText(report.note, 2000)).map((line) => paint(line, "bad", color)));
  return out;
}

/** One section alone. */
export function terminalSection(section: Section, look: Look): string {
  return `${lay(section, measured(look)).join("\n")}\n`;
}

type Measured = ReturnType<typeof measured>;

function measured({ width, color }: Look) {
  const space = Number.isFinite(width) ? Math.max(widthMin, Math.floor(width)) : 80;
  return { space, color, prose: (text: string) => wrap(text, Math.min(space, proseMax)) };
}

function lay({ heading, caption, tables, items }: Section, { space, color, prose }: Measured): string[] {
  const out = prose(heading).map((line) => paint(line, "strong", color));
  if (caption) out.push(...prose(caption).map((line) => paint(line, "faint", color)));
  for (const table of tables) {
    if (table.groups.length === 0) continue;
    if (table.title) out.push(...prose(table.title));
    out.push(layTable(table, { width: space, color }));
  }
  for (const { head, text } of items) {
    const [first, ...rest] = wrap(`${head}: ${text}`, Math.min(space, proseMax) - 2);
    out.push(`- ${first}`, ...rest.map((line) => `  ${line}`));
  }
  return out;
}
