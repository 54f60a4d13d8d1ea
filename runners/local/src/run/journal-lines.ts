// A run's journal as those read it who tell people what happened: line by line, whatever a kill left of it.
import { readFileSync } from "node:fs";

export type JournalLine = Partial<
  Record<"event" | "time" | "stage" | "key" | "pipeline" | "profile" | "selection" | "why" | "waits", string>
>;

/** The whole lines of a journal, which its run may be writing; none where there is none. */
export function journalLines(path: string): JournalLine[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const value = JSON.parse(line) as JournalLine | null;
      return value !== null && typeof value === "object" ? [value] : [];
    } catch {
      return []; // torn by a kill, being written, or empty
    }
  });
}
