// The hard limit of dollars of a whole run (`--max-cost`). The run's attempts have supervisors of their own, which
// work in parallel and outlive the run. They share a file: each appends what its calls cost or may have cost, and
// reads the file before a call. kit/attempts/purse.ts begins the file.
// Each attempt may pass the cap by one call: the dearest of those that it has in flight. The most that its other
// calls can cost counts before they are sent. Otherwise many calls of many attempts would pass the cap together.
import { appendFileSync } from "node:fs";
import { spendingCapLine } from "@mlrb/formats/attempt/spending-cap";
import { readFormat } from "@mlrb/formats/read-format";
import { readFrom } from "@mlrb/kit/files/read-from";
import { canonicalJson } from "@mlrb/kit/json-file";
import { hasProcess } from "@mlrb/kit/processes/has-process";

export type SpendingCap = {
  /** Of the whole run, by what its calls have cost; infinite without a cap. */
  leftDollars(): number;
  /** The same without what all attempts hold. */
  freeDollars(): number;
  /** Undefined without a cap. */
  maxDollars(): number | undefined;
  /** The most that this attempt's calls in flight can cost, without the dearest of them. */
  hold(dollars: number): void;
  add(dollars: number): void;
};

/**
 * The cap as the attempt of this name sees it. Its methods throw if the file cannot be read: then nothing may be
 * spent.
 */
export class CapFile implements SpendingCap {
  readonly #path: string;
  readonly #attempt: string;
  #offset = 0;
  #rest = "";
  #max = 0;
  #spent = 0;
  readonly #held = new Map<string, { dollars: number; pid: number }>();
  /** Undefined before this process's first line: an earlier supervisor of the attempt may have left one. */
  #holding: number | undefined;

  constructor(path: string, attempt: string) {
    this.#path = path;
    this.#attempt = attempt;
  }

  /** Attempts that were killed count as having spent what they held: their last calls may be billed. */
  leftDollars(): number {
    this.#read();
    return this.#max - this.#spent - this.#sumHeld((pid) => !hasProcess(pid));
  }

  freeDollars(): number {
    this.#read();
    return this.#max - this.#spent - this.#sumHeld(() => true);
  }

  maxDollars(): number {
    this.#read();
    return this.#max;
  }

  hold(dollars: number): void {
    if (dollars === this.#holding) return;
    this.#append({ attempt: this.#attempt, held: dollars, pid: process.pid }, { flush: false });
    this.#holding = dollars;
  }

  add(dollars: number): void {
    if (dollars > 0) this.#append({ dollars }, { flush: true });
  }

  /** A line of its own, also behind half a line that a killed supervisor left. */
  #append(line: object, { flush }: { flush: boolean }): void {
    appendFileSync(this.#path, `\n${canonicalJson(line)}\n`, { flush });
  }

  #read(): void {
    const bytes = readFrom(this.#path, this.#offset);
    if (!bytes) throw new Error(`ENOENT: there is no ${this.#path}`);
    this.#offset += bytes.length;
    const lines = (this.#rest + bytes.toString("utf8")).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    const reading = readFormat(spendingCapLine, line);
    if (reading.kind === "unreadable") return; // half a line of a supervisor that was killed
    const { value } = reading;
    if ("maxDollars" in value) this.#max = value.maxDollars;
    else if ("dollars" in value) this.#spent += value.dollars;
    else this.#held.set(value.attempt, { dollars: value.held, pid: value.pid });
  }

  #sumHeld(counts: (pid: number) => boolean): number {
    let sum = 0;
    for (const { dollars, pid } of this.#held.values()) if (dollars > 0 && counts(pid)) sum += dollars;
    return sum;
  }
}
