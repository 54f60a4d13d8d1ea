// The log of a stage with secrets. The stage writes to a file in its work folder, which is removed with the
// folder. Users and records get a copy without the secrets, made while the stage runs. A killed run leaves no
// secret either: the next run clears its work folder.
import { rmSync, statSync, writeFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Redactor } from "@mlrb/core/ports/redactor";
import { readFrom } from "@mlrb/kit/files/read-from";
import { heldFrom, type LogCap, logBound, logCap } from "@mlrb/kit/processes/bounded-log";
import { capLog, leftOut } from "./cap-log.ts";

/** Interval of the copy while the stage runs. */
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
  #withheld = false;
  readonly #mayCopy: () => boolean;

  /**
   * `secrets`: values by name. `to` holds the previous log, which is removed. `mayCopy`: false once the stage may
   * have a value that is not among the secrets; from then on nothing is copied.
   */
  constructor(
    from: string,
    to: string,
    secrets: Record<string, string>,
    { cap = logCap, mayCopy = () => true }: { cap?: LogCap; mayCopy?: () => boolean } = {},
  ) {
    this.#from = from;
    this.#to = to;
    this.#secrets = secrets;
    this.#cap = cap;
    this.#bound = logBound(to, cap);
    this.#redactor = new Redactor(secrets);
    this.#mayCopy = mayCopy;
    if (mayCopy()) rmSync(to, { force: true });
    else this.#withhold(); // the copy of an earlier run stays
    this.#timer = setInterval(() => this.#copy(), copyMs);
    this.#timer.unref();
  }

  /** Copies new text, one chunk at most; false when there is no more. */
  #copy(): boolean {
    if (this.#trouble !== undefined || this.#withheld) return false;
    try {
      const size = statSync(this.#from, { throwIfNoEntry: false })?.size ?? 0;
      const at = heldFrom(this.#read, size, this.#cap);
      const passed = at - this.#read;
      if (passed > 0) this.#passOver(passed);
      const { headBytes } = this.#cap;
      const bytesMax = at < headBytes ? Math.min(chunkBytes, headBytes - at) : chunkBytes;
      const chunk = readFrom(this.#from, at, bytesMax) ?? Buffer.alloc(0);
      this.#read += chunk.length;
      // checked after the read: a stage gets a new value only after that value is registered
      if (!this.#mayCopy()) {
        this.#withhold();
        return false;
      }
      const clean = this.#redactor.push(chunk);
      this.#append(passed > 0 ? this.#pastSecret(clean) : clean);
      this.#bound.look();
      return chunk.length > 0;
    } catch (error) {
      this.#trouble = error;
      return false;
    }
  }

  /** Used when the stage writes faster than this copies. Also omits a possible first half of a secret. */
  #passOver(bytes: number): void {
    this.#append(Buffer.from(leftOut(bytes, this.#cap)));
    this.#redactor = new Redactor(this.#secrets);
    this.#read += bytes;
  }

  /** The bytes from the first line that cannot begin with the second half of a secret. */
  #pastSecret(bytes: Buffer): Buffer {
    const past = this.#redactor.halfBytesMax;
    const lineEnd = bytes.indexOf(10, past);
    return bytes.subarray(lineEnd < 0 ? past : lineEnd + 1);
  }

  #withhold(): void {
    this.#withheld = true;
    const words = "mlrb: what follows is not shown: it may hold a secret whose value this run does not know";
    this.#append(Buffer.concat([this.#redactor.end(), Buffer.from(`${words}\n`)]));
  }

  #append(bytes: Buffer): void {
    if (bytes.length > 0) writeFileSync(this.#to, bytes, { flag: "a" });
  }

  /** For a stage that continues without this run: the copy ends here, and the stage's output stays. */
  async leave(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    while (this.#copy()) await nextTurn();
    if (this.#trouble !== undefined) throw this.#trouble;
    this.#append(this.#redactor.end());
    capLog(this.#to, this.#cap);
  }

  /** Await before the stage's folder is used again. Throws where the copy cannot be written. */
  async end(): Promise<void> {
    if (this.#ended) return;
    try {
      await this.leave();
    } finally {
      rmSync(this.#from, { force: true });
    }
  }
}

/** The secrets of a stage, by name, with the values of this process. */
export function secretsNamed(names: string[]): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const name of names) if (process.env[name]) secrets[name] = process.env[name];
  return secrets;
}
