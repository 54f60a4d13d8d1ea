// Publishes the log of a stage among the logs. A stage writes to the log in its work folder. The log is linked
// once the stage has run for `shownMs`, or at its end if the log is not empty. Most short stages print nothing,
// and a file for each would cost more than the stage.
import { linkSync, lstatSync, renameSync, rmSync, statSync } from "node:fs";
import { capLog } from "./cap-log.ts";

/** Time after which a running stage's log is readable. */
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
    if (lstatSync(to, { throwIfNoEntry: false })) rmSync(to, { force: true });
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
      // the file appears once the stage's program has started
      if ((error as NodeJS.ErrnoException).code === "ENOENT") this.#await();
      // otherwise a file system without links: the log is moved at the end
    }
  }

  /** For a stage that continues without this run: the stage writes to the same file, which keeps both names. */
  leave(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    if (!this.#shown) this.#show();
    clearTimeout(this.#timer);
  }

  /** Call before the stage's folder is used again. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    const size = statSync(this.#from, { throwIfNoEntry: false })?.size ?? 0;
    if (this.#shown) rmSync(this.#from, { force: true });
    else if (size > 0) renameSync(this.#from, this.#to);
    else return; // no log
    capLog(this.#to);
  }
}
