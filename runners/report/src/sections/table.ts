// The report before layout: sections of tables and lists in plain text. Each renderer lays them out and escapes
// them in its own way.

export type Section = {
  heading: string;
  /** How to read the section. */
  caption: string;
  tables: Table[];
  items: Item[];
};

export type Table = {
  /** Names the table among several of one section; empty for the only one. */
  title: string;
  columns: Column[];
  groups: { name: string; title: string; rows: TableCell[][] }[];
  /** What the names of the groups are; by default tasks. */
  groupHead?: string;
};

/** A rigid column holds numbers: right-aligned and never wrapped. */
export type Column = { head: string; rigid: boolean };

/** Lines of text, and how to mark them. Crossed-out numbers do not count. */
export type TableCell = { lines: string[]; mark?: Mark; about?: About };

/** The target of a cell's link: a mean, or with a seed one attempt. */
export type About = { task: string; agent: string; metric?: string; seed?: string | number };

export type Mark = "crossed-out" | "bad" | "faint" | "strong";

/** `head` names the subject of `text`. */
export type Item = { head: string; text: string };

export function textCell(text: string, mark?: Mark): TableCell {
  return mark ? { lines: [text], mark } : { lines: [text] };
}
