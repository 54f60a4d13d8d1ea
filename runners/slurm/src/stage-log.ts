// What the runner of a job adds to the log of its stage.
import { appendFileSync } from "node:fs";
import { quiet } from "@mlrb/kit/processes/process-table";

export class StageLog {
  readonly #path: string;
  #last = "";

  constructor(path: string) {
    this.#path = path;
  }

  say(line: string): void {
    quiet(() => appendFileSync(this.#path, `mlrb: ${line}\n`)); // a full disk is reported by what needs the disk
  }

  /** Why the job waits; not again before another reason. */
  waits(reason: string): void {
    if (reason !== this.#last) this.say(`waits: ${reason}`);
    this.#last = reason;
  }
}
