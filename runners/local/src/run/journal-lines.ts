// Reads a run's journal for display. Skips torn lines.
import { readFileSync } from "node:fs";

export type JournalLine = Partial<
  Record<"event" | "time" | "stage" | "key" | "pipeline" | "profile" | "selection" | "why" | "waits", string>
>;

/** The complete lines of a journal that a run may still be writing; empty without a journal. */
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
      return []; // torn by a kill, unfinished, or empty
    }
  });
}
