// The log of a stage that was handed secrets. It writes to a file in its work folder, which is removed
// with it; what people read, and what a record keeps, is a copy without the secrets, made while it runs.
// So a killed run leaves none behind either: its work folder goes when the next run clears up.
import { rmSync, statSync, writeFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Redactor } from "@mlrb/core/redactor";
import { heldFrom, type LogCap, logBound, logCap } from "@mlrb/kit/bounded-log";
import { capLog, leftOut } from "./cap-log.ts";
import { readFrom } from "./read-from.ts";

/** How often the copy catches up while the stage runs. */
const copyMs = 300;
const chunkBytes = 1 << 20;

export class RedactedLog {
  readonly #from: string;
  readonly #to: string;
  readonly #secrets: Record<string, string>;
  readonly #cap: LogCap;
  readonly #bound: ReturnType<typeof logBound>;
  #redactor: Redactor;
  readonly #timer: NodeJS.Timeout;
  #read = 0;
  #trouble: unknown;
  #ended = false;

  /** `secrets`: values by name. `to` is what was said the last time: it goes. */
  constructor(from: string, to: string, secrets: Record<string, string>, cap = logCap) {
    this.#from = from;
    this.#to = to;
    this.#secrets = secrets;
    this.#cap = cap;
    this.#bound = logBound(to, cap);
    this.#redactor = new Redactor(secrets);
    rmSync(to, { force: true });
    this.#timer = setInterval(() => this.#copy(), copyMs);
    this.#timer.unref();
  }

  /** Copies what has come since, a chunk at most; false when there was nothing more. */
  #copy(): boolean {
    if (this.#trouble !== undefined) return false;
    try {
      const size = statSync(this.#from, { throwIfNoEntry: false })?.size ?? 0;
      const at = heldFrom(this.#read, size, this.#cap);
      const passed = at - this.#read;
      if (passed > 0) this.#passOver(passed);
      const { headBytes } = this.#cap;
      const bytesMax = at < headBytes ? Math.min(chunkBytes, headBytes - at) : chunkBytes;
      const chunk = readFrom(this.#from, at, bytesMax) ?? Buffer.alloc(0);
      this.#read += chunk.length;
      const clean = this.#redactor.push(chunk);
      this.#append(passed > 0 ? this.#pastSecret(clean) : clean);
      this.#bound.look();
      return chunk.length > 0;
    } catch (error) {
      this.#trouble = error;
      return false;
    }
  }

  /** The stage writes faster than this reads. What may be the first half of a secret is left out too. */
  #passOver(bytes: number): void {
    this.#append(Buffer.from(leftOut(bytes, this.#cap)));
    this.#redactor = new Redactor(this.#secrets);
    this.#read += bytes;
  }

  /** From the first line on that cannot begin with the second half of a secret. */
  #pastSecret(bytes: Buffer): Buffer {
    const past = this.#redactor.halfBytesMax;
    const lineEnd = bytes.indexOf(10, past);
    return bytes.subarray(lineEnd < 0 ? past : lineEnd + 1);
  }

  #append(bytes: Buffer): void {
    if (bytes.length > 0) writeFileSync(this.#to, bytes, { flag: "a" });
  }

  /** To be awaited before the stage's folder is used again. Throws where the copy cannot be written. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    try {
      while (this.#copy()) await nextTurn();
      if (this.#trouble !== undefined) throw this.#trouble;
      this.#append(this.#redactor.end());
      capLog(this.#to, this.#cap);
    } finally {
      rmSync(this.#from, { force: true });
    }
  }
}

/** The secrets that a stage is handed, by name, as this program has them. */
export function secretsNamed(names: string[]): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const name of names) if (process.env[name]) secrets[name] = process.env[name];
  return secrets;
}
