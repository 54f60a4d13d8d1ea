// Writes the append-only event log of a run, for people and for later programs. No decision reads the log.
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";

export class Journal {
  readonly #file: number;
  /** Lines that wait for the next write: a run may reuse a hundred thousand instances. */
  #waiting: string[] = [];

  constructor(folder: string, run: string) {
    mkdirSync(folder, { recursive: true });
    this.#file = openSync(join(folder, `${run}.jsonl`), "a");
  }

  /** With `later` the line may wait for the next write: the next run can repeat what a kill loses. */
  write(event: Record<string, unknown>, { later = false }: { later?: boolean } = {}): void {
    this.#waiting.push(`${canonicalJson({ formatVersion: 1, time: new Date().toISOString(), ...event })}\n`);
    if (!later || this.#waiting.length >= 1000) this.#flush();
  }

  #flush(): void {
    const text = this.#waiting.join("");
    this.#waiting = [];
    try {
      if (text !== "") writeSync(this.#file, text);
    } catch {
      // a full disk fails the stages that cannot keep their results; the journal never fails the run
    }
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }
}
