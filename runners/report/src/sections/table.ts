// What the report says, before it looks like anything: sections of tables and lists in plain text, which
// the terminal and Markdown renderers lay out and escape in their own way.

export type Section = {
  heading: string;
  /** One sentence on how to read what follows. */
  caption: string;
  tables: Table[];
  items: Item[];
};

export type Table = {
  /** Names the table among several of one section; empty for the only one. */
  title: string;
  columns: Column[];
  groups: { name: string; title: string; rows: TableCell[][] }[];
};

/** A rigid column holds numbers: right-aligned and never wrapped. */
export type Column = { head: string; rigid: boolean };

/** Lines of text, and how strongly to show them. Struck numbers count as the floor. */
export type TableCell = { lines: string[]; mark?: Mark; about?: About };

/** What a cell tells of, for renderers that can lead there: a mean, or with a seed one attempt. */
export type About = { task: string; agent: string; metric?: string; seed?: string | number };

export type Mark = "struck" | "bad" | "faint" | "strong";

/** `head` says what the item is about, `text` what there is to know. */
export type Item = { head: string; text: string };

export function textCell(text: string, mark?: Mark): TableCell {
  return mark ? { lines: [text], mark } : { lines: [text] };
}
