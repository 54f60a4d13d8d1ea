// The log of a stage, where people look for it. A stage writes to the log in its work folder. The log gets a name among the
// logs once the stage has run for a moment, or at its end if it is not empty: most short stages print nothing, and a file
// for each would cost more than the stage.
import { linkSync, renameSync, statSync, unlinkSync } from "node:fs";
import { capLog } from "./cap-log.ts";

/** After how long a running stage's log can be read. */
const shownMs = 300;

export class StageLog {
  readonly #from: string;
  readonly #to: string;
  #timer: NodeJS.Timeout | undefined;
  #shown = false;
  #ended = false;

  /** `to`, the log of the last execution, is removed. */
  constructor(from: string, to: string) {
    this.#from = from;
    this.#to = to;
    removeFile(to);
    this.#await();
  }

  #await(): void {
    this.#timer = setTimeout(() => this.#show(), shownMs);
    this.#timer.unref();
  }

  #show(): void {
    try {
      linkSync(this.#from, this.#to);
      this.#shown = true;
    } catch (error) {
      // not there yet: it is once the stage's program was started
      if ((error as NodeJS.ErrnoException).code === "ENOENT") this.#await();
      // else a file system without links: it is moved at the end
    }
  }

  /** For a stage that goes on without this run: it writes on to the same file, which keeps both names. */
  leave(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    if (!this.#shown) this.#show();
    clearTimeout(this.#timer);
  }

  /** To be called before the stage's folder is used again. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    const size = statSync(this.#from, { throwIfNoEntry: false })?.size ?? 0;
    if (this.#shown) removeFile(this.#from);
    else if (size > 0) renameSync(this.#from, this.#to);
    capLog(this.#to);
  }
}

/** Nothing happens where there is none. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
