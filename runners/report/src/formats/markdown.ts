// The report as Markdown, for reading in a repository or pasting into a draft.
import type { Report } from "@mlrb/formats/report";
import { labelText } from "../read/condition-words.ts";
import { plainText } from "../read/plain-text.ts";
import { headline } from "../sections/headline.ts";
import { coverageLine, sections } from "../sections/sections.ts";
import type { Section, Table, TableCell } from "../sections/table.ts";

/** report.md: the same sections as the terminal's, in GitHub's Markdown, ending with a line break. */
export function markdown(report: Report): string {
  const out = [fileHead(report), [...headline(report), coverageLine(report)].map(asText).join("\n\n"), ""];
  for (const section of sections(report)) out.push(...lay(section));
  return `${out.join("\n").trimEnd()}\n`;
}

/** The beginning of every file of a report: title, label and warning. */
export function fileHead(report: Report): string {
  const { title, note } = report;
  // a line break would end the heading, or the quote of the warning
  const head = `# ${asText(plainText(title))} (${asText(plainText(labelText(report)))})\n`;
  return note ? `${head}\n> **${asText(plainText(note, 2000))}**\n` : head;
}

/** One section alone. */
export function markdownSection(section: Section): string {
  return `${lay(section).join("\n").trimEnd()}\n`;
}

function lay({ heading, caption, tables, items }: Section): string[] {
  const out = [`## ${asText(heading)}`, ""];
  if (caption) out.push(asText(caption), "");
  for (const table of tables) {
    if (table.groups.length === 0) continue;
    if (table.title) out.push(`### ${asText(table.title)}`, "");
    out.push(...layTable(table), "");
  }
  if (items.length > 0) {
    out.push(...items.map(({ head, text }) => `- **${asText(head)}**: ${asText(text)}`), "");
  }
  return out;
}

/** A group becomes a first column, because Markdown has no spanning rows. */
function layTable({ columns, groups, groupHead = "task" }: Table): string[] {
  const named = groups.some((group) => group.name !== "");
  const heads = [...(named ? [groupHead] : []), ...columns.map(({ head }) => head)];
  const aligns = [...(named ? ["---"] : []), ...columns.map(({ rigid }) => (rigid ? "--:" : "---"))];
  const rows = groups.flatMap(({ name, rows }) =>
    rows.map((row) => [...(named ? [asText(name)] : []), ...row.map(layCell)]),
  );
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads.map(asText)), line(aligns), ...rows.map(line)];
}

function layCell({ lines, mark }: TableCell): string {
  const text = lines.map(asText).join("<br>");
  if (mark === "crossed-out") return `~~${text}~~`;
  return mark === "strong" || mark === "bad" ? `**${text}**` : text;
}

/** Escapes all Markdown syntax, including links and HTML. */
function asText(text: string): string {
  return text
    .replace(/[\\`*_[\]<>|~#&$@!{}^]/g, "\\$&")
    .replace(/:(?=\/\/)/g, "\\:")
    .replace(/\bwww\./gi, (www) => `${www.slice(0, 3)}\\.`);
}
