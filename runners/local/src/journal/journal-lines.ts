// Reads a run's journal for display. Skips torn lines.
import { readFileSync } from "node:fs";
import { ifReadable } from "../store/if-readable.ts";

export type JournalLine = Partial<
  Record<
    "event" | "time" | "stage" | "key" | "pipeline" | "profile" | "selection" | "why" | "waits" | "node",
    string
  >
> & { queuedMs?: number };

/** The complete lines of a journal that a run may still be writing; empty without a journal. */
export function journalLines(path: string): JournalLine[] {
  const text = ifReadable(() => readFileSync(path, "utf8"));
  return (text ?? "").split("\n").flatMap((line) => {
    const value = ifReadable(() => JSON.parse(line) as JournalLine | null); // torn by a kill, unfinished, or empty
    return value && typeof value === "object" ? [value] : [];
  });
}
