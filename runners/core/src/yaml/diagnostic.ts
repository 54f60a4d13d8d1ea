// A problem in something that a person wrote, and the way out. Diagnostics are values: all problems of a file are
// shown at once, and nothing runs while there is one.
import { displayWidth } from "../text/display-width.ts";

export type Diagnostic = {
  /** Stable name of the problem, e.g. `unknown-scorer`. */
  code: string;
  message: string;
  /** Absent for problems of the command line. */
  place?: Place;
  help?: string;
};

export type Place = {
  file: string;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  /** The whole line; the problem covers `length` units of it. */
  excerpt: string;
  length: number;
};

/** The diagnostic as text: place and cause, the line with a caret under it, the help. */
export function renderDiagnostic({ code, message, place, help }: Diagnostic): string {
  const head = place ? `${place.file}:${place.line}:${place.column} ` : "";
  const lines = [`${plain(head)}${code}: ${plain(message)}`];
  if (place && place.excerpt.trim() !== "") {
    const number = String(place.line);
    const { excerpt, caret } = clip(place);
    lines.push(`  ${number} | ${excerpt}`, `  ${" ".repeat(number.length)} | ${caret}`);
  }
  if (help) lines.push(`  help: ${plain(help)}`);
  return lines.join("\n");
}

/** Characters that control a terminal, change the writing direction or are invisible. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;

/** One short line: invisible characters are spelt out, long text is cut. */
function plain(text: string): string {
  const spelt = text.replace(unseen, (odd) => `\\u{${odd.codePointAt(0)!.toString(16)}}`);
  return spelt.length <= 600 ? spelt : `${spelt.slice(0, 400)} … ${spelt.slice(-100)}`.toWellFormed();
}

/** Long lines are cut around the problem; tabs and invisible characters become one space each. */
function clip({ excerpt, column, length }: Place): { excerpt: string; caret: string } {
  const width = 100;
  const from = Math.max(0, Math.min(column - 1 - 30, excerpt.length - width));
  const shown = excerpt
    .slice(from, from + width)
    .toWellFormed()
    .replace(unseen, (odd) => " ".repeat(odd.length));
  const at = column - 1 - from;
  const before = displayWidth(shown.slice(0, at));
  const under = displayWidth(shown.slice(at, at + length));
  return { excerpt: shown.trimEnd(), caret: " ".repeat(before) + "^".repeat(Math.max(1, under)) };
}

/** Sorted by file, line, column, then code and message. */
export function sortDiagnostics(diagnostics: Diagnostic[]): Diagnostic[] {
  const by = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);
  return [...diagnostics].sort(
    (a, b) =>
      by(a.place?.file ?? "", b.place?.file ?? "") ||
      by(a.place?.line ?? 0, b.place?.line ?? 0) ||
      by(a.place?.column ?? 0, b.place?.column ?? 0) ||
      by(a.code, b.code) ||
      by(a.message, b.message),
  );
}

/** Drops repeats, e.g. the same problem at several points of an axis. */
export function distinctDiagnostics(diagnostics: Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ code, message, place }) => {
    const key = JSON.stringify([code, message, place?.file, place?.line, place?.column]);
    return !seen.has(key) && seen.add(key);
  });
}
