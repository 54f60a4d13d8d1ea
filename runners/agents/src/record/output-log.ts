// What an agent's program prints, as events of the trajectory: whole lines where possible, so that a
// secret is never cut in two before it is taken out; the first megabytes and the last kilobytes, so
// that a program that never stops printing fills no disk and its last words are still there.
import { StringDecoder } from "node:string_decoder";

type Stream = "stdout" | "stderr";

export type OutputLog = {
  take(stream: Stream, bytes: Uint8Array): void;
  /** Writes the whole lines that wait. */
  flush(): void;
  /** Writes everything that waits, what was left out and the last words. */
  end(): void;
};

export type OutputLogOptions = {
  write(event: OutputEvent): void;
  /** Takes secrets out of a text. */
  redact(text: string): string;
  /** Bytes kept from the start of each stream, and from its end. */
  headMax?: number;
  tailMax?: number;
};

type OutputEvent =
  | { event: "output"; stream: Stream; text: string }
  | { event: "output-clipped"; stream: Stream; bytes: number };

const textMax = 64 << 10;

export function outputLog(options: OutputLogOptions): OutputLog {
  const logs = {
    stdout: streamLog("stdout", options),
    stderr: streamLog("stderr", options),
  };
  const both = Object.values(logs);
  return {
    take: (stream, bytes) => logs[stream].take(bytes),
    flush: () => both.forEach((log) => void log.flush()),
    end: () => both.forEach((log) => void log.end()),
  };
}

function streamLog(
  stream: Stream,
  { write, redact, headMax = 8 << 20, tailMax = 64 << 10 }: OutputLogOptions,
) {
  const decoder = new StringDecoder("utf8");
  let waiting = "";
  let head = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let clipped = 0;
  let ended = false;

  const emit = (text: string) => {
    for (let from = 0; from < text.length; from += textMax)
      write({ event: "output", stream, text: text.slice(from, from + textMax) });
  };
  const flush = () => {
    const end = waiting.length > textMax ? waiting.length : waiting.lastIndexOf("\n") + 1;
    if (end > 0) emit(redact(waiting.slice(0, end)));
    waiting = waiting.slice(end);
  };
  const keepTail = (bytes: Uint8Array) => {
    if (bytes.length === 0) return;
    tail.push(Buffer.from(bytes));
    tailBytes += bytes.length;
    while (tailBytes - tail[0]!.length >= tailMax) {
      const first = tail.shift()!;
      tailBytes -= first.length;
      clipped += first.length;
    }
  };

  return {
    take(bytes: Uint8Array) {
      if (ended) return;
      const kept = bytes.subarray(0, Math.max(0, headMax - head));
      head += kept.length;
      waiting += decoder.write(Buffer.from(kept));
      if (waiting.length > textMax) flush();
      keepTail(bytes.subarray(kept.length));
    },
    flush,
    end() {
      ended = true;
      const last = Buffer.concat(tail);
      const surplus = Math.max(0, last.length - tailMax);
      clipped += surplus;
      if (clipped === 0) waiting += decoder.write(last);
      waiting += decoder.end();
      if (clipped === 0) {
        emit(redact(waiting));
      } else {
        // half a line on either side of the gap could be half a secret: it goes too
        flush();
        const whole = last.indexOf(10, surplus) + 1 || last.length;
        clipped += Buffer.byteLength(waiting) + whole - surplus;
        write({ event: "output-clipped", stream, bytes: clipped });
        emit(redact(last.subarray(whole).toString("utf8")));
      }
      waiting = "";
      tail = [];
    },
  };
}
