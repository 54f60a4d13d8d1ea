// Records an agent's output as events of the trajectory. Whole lines where possible, so that a secret is never cut
// in two before it is removed. Only the first megabytes and the last kilobytes, so that endless output fills no
// disk and its end is kept.
import { StringDecoder } from "node:string_decoder";

type Stream = "stdout" | "stderr";

type OutputLogOptions = {
  write(event: OutputEvent): void;
  /** Removes secrets from a text. */
  redact(text: string): string;
};

type OutputEvent =
  | { event: "output"; stream: Stream; text: string }
  | { event: "output-clipped"; stream: Stream; bytes: number };

const textMax = 64 << 10;
/** Bytes kept from the start of each stream, and from its end. */
const [headMax, tailMax] = [8 << 20, 64 << 10];

export function outputLog(options: OutputLogOptions) {
  const logs = { stdout: new StreamLog("stdout", options), stderr: new StreamLog("stderr", options) };
  const both = Object.values(logs);
  return {
    take: (stream: Stream, bytes: Uint8Array) => logs[stream].take(bytes),
    /** Writes the whole lines received so far. */
    flush: () => both.forEach((log) => void log.flush()),
    /** Writes the rest: the last lines, and the size of the gap if there is one. */
    end: () => both.forEach((log) => void log.end()),
  };
}

class StreamLog {
  readonly #stream: Stream;
  readonly #options: OutputLogOptions;
  readonly #decoder = new StringDecoder("utf8");
  #waiting = "";
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #clipped = 0;
  #ended = false;

  constructor(stream: Stream, options: OutputLogOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  take(bytes: Uint8Array): void {
    if (this.#ended) return;
    const kept = bytes.subarray(0, Math.max(0, headMax - this.#headBytes));
    this.#headBytes += kept.length;
    this.#waiting += this.#decoder.write(Buffer.from(kept));
    if (this.#waiting.length > textMax) this.flush();
    this.#keepTail(bytes.subarray(kept.length));
  }

  flush(): void {
    const whole = this.#waiting.length > textMax ? this.#waiting.length : this.#waiting.lastIndexOf("\n") + 1;
    if (whole > 0) this.#emit(this.#waiting.slice(0, whole));
    this.#waiting = this.#waiting.slice(whole);
  }

  end(): void {
    this.#ended = true;
    const last = Buffer.concat(this.#tail);
    const surplus = Math.max(0, last.length - tailMax);
    const clipped = this.#clipped + surplus;
    if (clipped === 0) {
      this.#emit(this.#waiting + this.#decoder.write(last) + this.#decoder.end());
    } else {
      // half a line on either side of the gap could be half a secret, so it is clipped too
      this.#waiting += this.#decoder.end();
      this.flush();
      const whole = last.indexOf(10, surplus) + 1 || last.length;
      const bytes = clipped + Buffer.byteLength(this.#waiting) + whole - surplus;
      this.#options.write({ event: "output-clipped", stream: this.#stream, bytes });
      this.#emit(last.subarray(whole).toString("utf8"));
    }
    this.#waiting = "";
    this.#tail = [];
  }

  #emit(text: string): void {
    const clean = this.#options.redact(text);
    for (let from = 0; from < clean.length; from += textMax)
      this.#options.write({
        ...{ event: "output", stream: this.#stream },
        text: clean.slice(from, from + textMax),
      });
  }

  #keepTail(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#tail.push(Buffer.from(bytes));
    this.#tailBytes += bytes.length;
    while (this.#tailBytes - this.#tail[0]!.length >= tailMax) {
      const first = this.#tail.shift()!;
      this.#tailBytes -= first.length;
      this.#clipped += first.length;
    }
  }
}
