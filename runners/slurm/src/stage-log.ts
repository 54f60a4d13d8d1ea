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

  /** Not again before another such line. */
  once(line: string): void {
    if (line !== this.#last) this.say(line);
    this.#last = line;
  }

  /** Why the job waits; once for each reason. */
  waits(reason: string): void {
    this.once(`waits: ${reason}`);
  }
}
