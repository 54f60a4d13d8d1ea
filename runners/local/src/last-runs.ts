// What each stage instance of a pipeline and profile last succeeded with: for reasons ("code changed
// since"), for expected durations, and for members of a report that were not selected. An append-only
// file, one line a success; a torn last line is passed over.
import { appendFileSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";

export type LastRun = { id: string; key: string; durationMs: number; log?: string };

export class LastRuns {
  readonly #file: string;
  readonly #known = new Map<string, LastRun>();
  #append: number | undefined; // open for as long as the program runs

  constructor(folder: string, pipeline: string, profile: string) {
    this.#file = join(folder, pipeline, `${profile}.jsonl`);
    let text = "";
    try {
      text = readFileSync(this.#file, "utf8");
    } catch {
      return;
    }
    const lines = text.split("\n");
    for (const line of lines) {
      try {
        const last = JSON.parse(line) as LastRun;
        this.#known.set(last.id, last);
      } catch {
        // torn by a kill, or empty
      }
    }
    if (lines.length > 2 * this.#known.size + 100) {
      writeWhole(this.#file, [...this.#known.values()].map((last) => `${canonicalJson(last)}\n`).join(""));
    } else if (text !== "" && !text.endsWith("\n")) {
      appendFileSync(this.#file, "\n");
    }
  }

  #open(): number {
    mkdirSync(dirname(this.#file), { recursive: true });
    return openSync(this.#file, "a");
  }

  get(id: string): LastRun | undefined {
    return this.#known.get(id);
  }

  put(last: LastRun): void {
    const held = this.#known.get(last.id);
    if (held && canonicalJson(held) === canonicalJson(last)) return;
    this.#known.set(last.id, last);
    try {
      this.#append ??= this.#open();
      writeSync(this.#append, `${canonicalJson(last)}\n`);
    } catch {
      // the result is kept; only its reasons and its duration are not known next time
    }
  }
}
