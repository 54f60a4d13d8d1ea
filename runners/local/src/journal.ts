// A run's append-only log of events, for people and for programs that look back; never read to decide.
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";

export class Journal {
  readonly #file: number;

  constructor(folder: string, run: string) {
    mkdirSync(folder, { recursive: true });
    this.#file = openSync(join(folder, `${run}.jsonl`), "a");
  }

  write(event: Record<string, unknown>): void {
    const line = `${canonicalJson({ formatVersion: 1, time: new Date().toISOString(), ...event })}\n`;
    try {
      writeSync(this.#file, line);
    } catch {
      // a full disk ends the stages that cannot keep their results, not the run for the sake of its diary
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
