// The last success of each stage instance of a pipeline and profile: for reasons ("code changed since"), expected
// durations, and members of a report that were not selected. An append-only file with one line per success; torn
// lines are skipped.
import { appendFileSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { ifReadable } from "../store/if-readable.ts";

export type LastRun = { id: string; key: string; durationMs: number };

export class LastRuns {
  /** Changes whenever a stage succeeds, or is reused, with another key than before. */
  readonly file: string;
  readonly #known: Map<string, LastRun>;
  #append: number | undefined; // open for as long as the program runs

  constructor(folder: string, pipeline: string, profile: string) {
    this.file = join(folder, pipeline, `${profile}.jsonl`);
    this.#known = this.#read().known;
  }

  #read(): { text: string; known: Map<string, LastRun> } {
    const known = new Map<string, LastRun>();
    const text = ifReadable(() => readFileSync(this.file, "utf8")) ?? ""; // perhaps nothing has succeeded yet
    for (const line of text.split("\n")) {
      const last = ifReadable(() => JSON.parse(line) as LastRun | null); // torn by a kill, or empty
      if (typeof last?.id === "string" && typeof last.key === "string") known.set(last.id, last);
    }
    return { text, known };
  }

  /** Compacts the file only when it is opened for writing: a reader must not replace the file of a running run. */
  #open(): number {
    mkdirSync(dirname(this.file), { recursive: true });
    const { text, known } = this.#read();
    if (text.split("\n").length > 2 * known.size + 100) {
      writeWhole(this.file, [...known.values()].map((last) => `${canonicalJson(last)}\n`).join(""));
    } else if (text !== "" && !text.endsWith("\n")) {
      appendFileSync(this.file, "\n");
    }
    return openSync(this.file, "a");
  }

  get(id: string): LastRun | undefined {
    return this.#known.get(id);
  }

  all(): LastRun[] {
    return [...this.#known.values()];
  }

  put(last: LastRun): void {
    const held = this.#known.get(last.id);
    if (held?.key === last.key && held.durationMs === last.durationMs) return;
    this.#known.set(last.id, last);
    try {
      this.#append ??= this.#open();
      writeSync(this.#append, `${canonicalJson(last)}\n`);
    } catch {
      // the result is kept; only its reasons and its duration are not known next time
    }
  }
}
