// What people do to an attempt while it works: they give it more budget. The command line adds a line to a file in
// the attempt's folder. The harness reads it at each look at the budget, writes it to the trajectory, and only
// then lets it take effect. A model reads it in its next reminder.
import { readFileSync, statSync } from "node:fs";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import {
  type Intervention,
  type InterventionSums,
  intervention,
  noInterventions,
} from "@mlrb/formats/declared/intervention";
import { readFormat } from "@mlrb/formats/read-format";

export type Numbered = Omit<Intervention, "formatVersion" | "at"> & {
  /** Of its line, from 1. */
  number: number;
};

export type InterventionsOptions = {
  /** Absent for an attempt that is run by hand. */
  file: string | undefined;
  /** Those in the trajectory of an attempt that continues after a restart. */
  earlier: readonly Numbered[];
  write(event: TrajectoryEvent): void;
};

export class Interventions {
  readonly #options: InterventionsOptions;
  readonly #taken: Numbered[];
  #bytesRead = 0;
  #isOpen = false;

  constructor(options: InterventionsOptions) {
    this.#options = options;
    this.#taken = [...options.earlier];
  }

  /** From now on new lines count: the trajectory has its start, or says that the attempt continues. */
  open(): void {
    this.#isOpen = true;
  }

  /** No more lines count. Call it before the trajectory gets its end. */
  close(): void {
    this.#isOpen = false;
  }

  /** All that count, also those that came just now. */
  all(): readonly Numbered[] {
    if (this.#isOpen) this.#take();
    return this.#taken;
  }

  sums(): InterventionSums {
    return interventionSums(this.all());
  }

  /** Throws where the trajectory cannot be written; the line then does not count. */
  #take(): void {
    const { file } = this.#options;
    const size = file === undefined ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    if (file === undefined || size === this.#bytesRead) return;
    for (const one of interventionsIn(readFileSync(file, "utf8"))) {
      if (one.number <= (this.#taken.at(-1)?.number ?? 0)) continue;
      const { kind: _, ...fields } = one;
      this.#options.write({ event: "extended", ...fields });
      this.#taken.push(one);
    }
    this.#bytesRead = size;
  }
}

/** The whole lines of the file: the last one may be being written. */
export function interventionsIn(text: string): Numbered[] {
  const lines = text.split("\n").slice(0, -1);
  return lines.flatMap((line, at) => {
    const reading = readFormat(intervention, line);
    if (reading.kind === "unreadable") return []; // torn by a full disk; the command that wrote it failed
    const { formatVersion: _, at: __, ...asked } = reading.value;
    return { ...asked, number: at + 1 };
  });
}

export function interventionSums(all: readonly Numbered[]): InterventionSums {
  const sums = { ...noInterventions };
  for (const one of all) {
    sums.extensions++;
    sums.addedMs += one.addedMs;
    sums.addedDollars += one.addedDollars;
  }
  return sums;
}
