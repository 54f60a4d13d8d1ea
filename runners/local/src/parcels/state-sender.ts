// Sends the state of an attempt from its node to the host that submitted, over the relay of model calls. What a `flush`
// that began later than a line was written has sent includes that line.
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { attemptStateAddress } from "@mlrb/core/ports/relay";
import { readFormat } from "@mlrb/formats/read-format";
import { type AttemptUpdate, attemptOrders } from "@mlrb/formats/stage/attempt-state";
import { writeWhole } from "@mlrb/kit/json-file";
import { ifReadable } from "../store/if-readable.ts";
import { type AttemptFiles, logOf, ordered } from "./attempt-files.ts";

/** Of one update: the relay and the memory of both sides bound it. */
const bytesMax = 4 << 20;
/** A channel without an answer for this long has broken. */
const answerMs = 60_000;
const newline = 10;

/** The host has other lines than this node, or another job has the attempt: going on would make two attempts of one. */
export class StateRefused extends Error {}

export class StateSender {
  readonly #files: AttemptFiles;
  /** The socket of the relay's channel. */
  readonly #socket: string;
  /** Bytes that the host has, by file. */
  readonly #at = new Map<string, number>();
  readonly #attachments: Set<string>;
  /** As the host has them. */
  readonly #whole = new Map<string, string | null>();
  #logAt = 0;
  #sending: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** The folder holds what came from the host. */
  constructor(files: AttemptFiles, socket: string) {
    this.#files = files;
    this.#socket = socket;
    for (const file of files.appended) this.#at.set(file, this.#lastEnd(file));
    this.#attachments = new Set(this.#attachmentNames());
    for (const file of files.whole) this.#whole.set(file, this.#content(file));
  }

  /** Resolves once the host has on its disk what is on this node's disk now. Rejects where the channel is away. */
  flush(): Promise<void> {
    this.#next ??= this.#sending
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#sending = this.#send();
        return this.#sending;
      });
    return this.#next;
  }

  async #send(): Promise<void> {
    // read before the attachments: a line is written after those that it names
    const ends = new Map(this.#files.appended.map((file) => [file, sizeOf(join(this.#files.folder, file))]));
    for (const name of this.#attachmentNames()) {
      if (this.#attachments.has(name)) continue;
      const content = readFileSync(join(this.#files.folder, this.#files.attachments!, name), "utf8");
      await this.#post({ attachments: [{ name, content }] });
      this.#attachments.add(name);
    }
    for (const [file, end] of ends) {
      for (;;) {
        const from = this.#at.get(file)!;
        const { lines, end: to } = readLines(join(this.#files.folder, file), from, end);
        if (to <= from) break;
        await this.#post({ appended: [{ file, from, lines }] });
        this.#at.set(file, to);
      }
    }
    await this.#rest();
  }

  /** Small files and the log; at least one update, which brings the orders. */
  async #rest(): Promise<void> {
    const whole = this.#files.whole.flatMap((file) => {
      const content = this.#content(file);
      return content === this.#whole.get(file) ? [] : [{ file, content }];
    });
    const { lines: log, end } = readLines(logOf(this.#files), this.#logAt);
    await this.#post({ whole, log });
    this.#logAt = end;
    for (const { file, content } of whole) this.#whole.set(file, content);
  }

  async #post(some: Partial<AttemptUpdate>): Promise<void> {
    const update: AttemptUpdate = {
      ...{ formatVersion: 1, log: "", attachments: [], appended: [], whole: [] },
      ...some,
    };
    const reading = readFormat(attemptOrders, await this.#answer(JSON.stringify(update)));
    if (reading.kind !== "ok")
      throw new Error(`the host that submitted answers something else: ${reading.cause}`);
    for (const { file, content } of reading.value.whole) {
      if (!ordered.includes(file) || content === this.#content(file)) continue;
      const path = join(this.#files.folder, file);
      if (content === null) rmSync(path, { force: true });
      else writeWhole(path, content, { sync: false });
    }
  }

  async #answer(body: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; said: string }>();
    const signal = AbortSignal.timeout(answerMs);
    const headers = { "content-length": String(Buffer.byteLength(body)) };
    const to = {
      socketPath: this.#socket,
      path: attemptStateAddress,
      method: "POST",
      agent: false,
      headers,
      signal,
    };
    httpRequest(to, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, said }), reject);
    })
      .on("error", reject)
      .end(body);
    const { status, said } = await promise;
    if (status === 409) throw new StateRefused(said);
    if (status !== 200) throw new Error(`the host that submitted does not take the attempt's state: ${said}`);
    return said;
  }

  /** Where the last whole line ends. */
  #lastEnd(file: string): number {
    for (let at = 0; ; ) {
      const { end } = readLines(join(this.#files.folder, file), at);
      if (end === at) return at;
      at = end;
    }
  }

  #content(file: string): string | null {
    return ifReadable(() => readFileSync(join(this.#files.folder, file), "utf8")) ?? null;
  }

  #attachmentNames(): string[] {
    const { folder, attachments } = this.#files;
    if (attachments === undefined) return [];
    const names = ifReadable(() => readdirSync(join(folder, attachments))) ?? [];
    return names.filter((name) => /^[0-9a-f]{64}$/.test(name)); // others are being written
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Whole lines from the byte `from` on, and the byte at which they end; at most one update's, but at least one line. */
function readLines(
  path: string,
  from: number,
  most = Number.POSITIVE_INFINITY,
): { lines: string; end: number } {
  const file = ifReadable(() => openSync(path, "r"));
  if (file === undefined) return { lines: "", end: from };
  try {
    const size = Math.min(fstatSync(file).size, most);
    for (let length = bytesMax; ; length *= 2) {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - from)));
      const read = readSync(file, bytes, 0, bytes.length, from);
      const end = bytes.subarray(0, read).lastIndexOf(newline) + 1;
      if (end > 0 || read < length) return { lines: bytes.toString("utf8", 0, end), end: from + end };
    }
  } finally {
    closeSync(file);
  }
}
