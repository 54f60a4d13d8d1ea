// What is wrong with something a person wrote, and how to mend it. Diagnostics are values: a file's
// problems are gathered and shown all at once, and nothing runs while there is one.

export type Diagnostic = {
  /** Stable name of the problem, e.g. `unknown-scorer`. */
  code: string;
  message: string;
  /** Where; absent for what came from the command line. */
  place?: Place;
  help?: string;
};

export type Place = {
  file: string;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  /** The whole line, and how much of it the problem covers. */
  excerpt: string;
  length: number;
};

/** The diagnostic as people read it: place and cause, the line with a caret under it, the way out. */
export function renderDiagnostic({ code, message, place, help }: Diagnostic): string {
  const head = place ? `${place.file}:${place.line}:${place.column} ` : "";
  const lines = [`${head}${code}: ${message}`];
  if (place && place.excerpt.trim() !== "") {
    const number = String(place.line);
    const { excerpt, caret } = clip(place);
    lines.push(`  ${number} | ${excerpt}`, `  ${" ".repeat(number.length)} | ${caret}`);
  }
  if (help) lines.push(`  help: ${help}`);
  return lines.join("\n");
}

/** Long lines are cut around the problem, tabs become one space each so that the caret stays under it. */
function clip({ excerpt, column, length }: Place): { excerpt: string; caret: string } {
  const width = 100;
  const from = Math.max(0, Math.min(column - 1 - 30, excerpt.length - width));
  const shown = excerpt.slice(from, from + width).replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
  const at = column - 1 - from;
  const carets = Math.max(1, Math.min(length, shown.length - at));
  return { excerpt: shown, caret: " ".repeat(at) + "^".repeat(carets) };
}

/** In the order a reader meets them: by file, line, column, then code. */
export function sortDiagnostics(diagnostics: Diagnostic[]): Diagnostic[] {
  const key = ({ place }: Diagnostic) => [place?.file ?? "", place?.line ?? 0, place?.column ?? 0] as const;
  return [...diagnostics].sort((a, b) => {
    const [fileA, lineA, columnA] = key(a);
    const [fileB, lineB, columnB] = key(b);
    if (fileA !== fileB) return fileA < fileB ? -1 : 1;
    return lineA - lineB || columnA - columnB || (a.code < b.code ? -1 : 1);
  });
}
