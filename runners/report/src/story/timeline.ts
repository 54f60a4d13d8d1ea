// The timeline of a story. Quiet events are counted between the notable ones. Unless the full timeline is wanted,
// it keeps the lines at the beginning and at the end, so that its size does not grow with the trajectory.
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import type { TrajectoryLine } from "../exports/attempt-source.ts";
import { memberOf } from "../exports/trajectory-walk.ts";
import type { Mark, TimelineEntry } from "./timeline-entry.ts";

export type StoryLine = {
  sinceStartMs: number | null;
  what: string;
  text: string;
  mark?: Mark;
  /** The texts of which `text` may show only the beginning. */
  whole?: LongText[];
};

/** `[coder] shell` of a member of a team. */
export function ofMember(line: TrajectoryLine, what: string): string {
  const member = memberOf(line);
  return member === undefined ? what : `[${member}] ${what}`;
}

/** How many lines are kept at the beginning, and at least at the end; a line between counts the others. */
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

  show(line: TrajectoryLine, entry: TimelineEntry | undefined): void {
    if (entry?.kind === "quiet") {
      const member = memberOf(line);
      const what = member === undefined ? entry.what : `${entry.what} of ${member}`;
      this.#quiet.set(what, (this.#quiet.get(what) ?? 0) + 1);
    } else if (entry) this.add(line, entry.what, entry.text, entry.mark, entry.whole);
  }

  add(line: TrajectoryLine, what: string, text: string, mark?: Mark, whole?: LongText[]): void {
    this.#pushQuiet();
    const sinceStartMs = line.kind === "broken" ? null : line.sinceStartMs;
    const shown = { sinceStartMs, what: ofMember(line, what), text };
    this.#push({ ...shown, ...(mark && { mark }), ...(whole && { whole }) });
  }

  lines(): StoryLine[] {
    this.#pushQuiet();
    if (this.#left > 0)
      this.#last.unshift({
        sinceStartMs: null,
        what: "…",
        text: `${this.#left} more lines are left out here`,
        mark: "faint",
      });
    return [...this.#first, ...this.#last];
  }

  #pushQuiet(): void {
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
