// The lines of a story: the beginning and the end of what is told, with counts of the quiet between. Bounded, however
// long the trajectory is, unless all is asked for.
import type { TrajectoryLine } from "../exports/attempt-source.ts";

export type StoryLine = {
  sinceStartMs: number | null;
  what: string;
  text: string;
  mark?: "bad" | "strong" | "faint";
};

/** Lines at the beginning and at the end; between them is said how many are left out. */
const edge = 150;

export class Timeline {
  readonly #full: boolean;
  readonly #first: StoryLine[] = [];
  #last: StoryLine[] = [];
  #left = 0;
  #quiet = new Map<string, number>();

  constructor(full: boolean) {
    this.#full = full;
  }

  quiet(what: string): void {
    if (!this.#full) this.#quiet.set(what, (this.#quiet.get(what) ?? 0) + 1);
  }

  notable(line: TrajectoryLine, what: string, text: string, mark?: StoryLine["mark"]): void {
    if (!this.#full) this.add(line, what, text, mark);
  }

  add(line: TrajectoryLine, what: string, text: string, mark?: StoryLine["mark"]): void {
    this.#tellQuiet();
    const sinceStartMs = line.kind === "broken" ? null : line.sinceStartMs;
    this.#push({ sinceStartMs, what, text, ...(mark && { mark }) });
  }

  lines(): StoryLine[] {
    this.#tellQuiet();
    if (this.#left > 0)
      this.#last.unshift({
        sinceStartMs: null,
        what: "…",
        text: `${this.#left} more lines are left out here`,
        mark: "faint",
      });
    return [...this.#first, ...this.#last];
  }

  #tellQuiet(): void {
    if (this.#quiet.size === 0) return;
    const text = [...this.#quiet].map(([what, count]) => `${what}: ${count}`).join(", ");
    this.#quiet = new Map();
    this.#push({ sinceStartMs: null, what: "", text, mark: "faint" });
  }

  #push(line: StoryLine): void {
    if (this.#full || this.#first.length < edge) {
      this.#first.push(line);
      return;
    }
    this.#last.push(line);
    if (this.#last.length < 2 * edge) return;
    this.#left += edge;
    this.#last = this.#last.slice(edge);
  }
}
