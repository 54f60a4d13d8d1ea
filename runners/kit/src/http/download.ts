// A download that is continued where its connection broke. The bytes are counted and hashed as they come, so that
// a server can neither fill the disk nor pass off other bytes.
import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { bodyOf, discard, expectStatus, type HttpAnswer, isAbsent, tooLong } from "./ask-http.ts";
import { HttpTrouble, troubleOf } from "./http-trouble.ts";
import type { Tries } from "./repeated.ts";

type Wanted = Tries & {
  ask(headers: Record<string, string>): Promise<HttpAnswer>;
  /** Absent: as many as the server has. */
  bytes?: number | undefined;
  /** Called before the first byte of an answer with what the server has in all, if it says so; may throw. */
  admit?(bytes: number | undefined): Promise<number>;
  hashes?: () => Hash[];
  /** Waits for the turn of each connection. */
  inTurn?<T>(connection: () => Promise<T>): Promise<T>;
};

/**
 * Writes to a new file. Each try must bring something; after `tries` without progress it throws HttpTrouble.
 * Returns the digests of `hashes`, of SHA-256 unless given.
 */
export async function download(
  file: FileHandle,
  wanted: Wanted,
): Promise<{ bytes: number; digests: string[] }> {
  const { tries, pauseMs, signal, inTurn = (connection) => connection() } = wanted;
  const received = new Received(file, wanted);
  let best = 0;
  for (let tried = 1; received.at !== received.bytes; tried++) {
    try {
      await inTurn(() => received.continue());
    } catch (error) {
      signal.throwIfAborted();
      const trouble = troubleOf(error);
      if (trouble.kind !== "failing" && trouble.kind !== "silent") throw trouble;
      if (received.at > best) {
        best = received.at;
        tried = 1;
      } else if (tried >= tries) throw trouble;
      await sleep(pauseMs(tried + 1, trouble), undefined, { signal });
    }
  }
  return { bytes: received.at, digests: received.digests() };
}

class Received {
  readonly #file: FileHandle;
  readonly #wanted: Wanted;
  #hashes: Hash[] = [];
  at = 0;
  /** Undefined until it is known. */
  bytes: number | undefined;
  #bytesMax: number;

  constructor(file: FileHandle, wanted: Wanted) {
    this.#file = file;
    this.#wanted = wanted;
    this.bytes = wanted.bytes;
    this.#bytesMax = wanted.bytes ?? Number.POSITIVE_INFINITY;
    this.#restart();
  }

  digests(): string[] {
    return this.#hashes.map((hash) => hash.digest("hex"));
  }

  /** Throws if the answer ends before the content does. */
  async continue(): Promise<void> {
    const { ask, admit } = this.#wanted;
    const answer = await ask(this.at > 0 ? { range: `bytes=${this.at}-` } : {});
    this.#place(answer);
    const length = answer.headers["content-length"];
    const stated = this.bytes ?? (length === undefined ? undefined : this.at + Number(length));
    try {
      if (admit) this.#bytesMax = await admit(stated);
    } catch (error) {
      answer.message.destroy();
      throw error;
    }
    for await (const part of bodyOf(answer)) await this.#write(part);
    this.bytes ??= stated ?? this.at;
    if (this.at < this.bytes) throw new HttpTrouble("failing", "it sent less of a content than there is");
  }

  /** Whether the answer continues the content or begins it again. */
  #place(answer: HttpAnswer): void {
    if (isAbsent(answer)) {
      const { status, headers } = answer;
      throw new HttpTrouble("missing", "it lacks the content", { status, headers });
    }
    if (answer.status === 416) {
      discard(answer);
      this.#restart();
      throw new HttpTrouble("failing", "it has less of a content than it sent before");
    }
    expectStatus(answer, this.at > 0 ? [200, 206] : [200]);
    const begins = /^bytes (\d+)-/.exec(answer.headers["content-range"] ?? "")?.[1];
    if (answer.status === 200) this.#restart();
    else if (Number(begins) !== this.at) {
      discard(answer);
      this.#restart();
      throw new HttpTrouble("failing", "it continued a content at another place");
    }
  }

  #restart(): void {
    this.#hashes = this.#wanted.hashes?.() ?? [createHash("sha256")];
    this.at = 0;
  }

  async #write(part: Buffer): Promise<void> {
    if (this.at + part.length > this.#bytesMax) throw tooLong(this.#bytesMax);
    // a disk that is nearly full takes a part of it, and fails only then
    for (let done = 0; done < part.length; )
      done += (await this.#file.write(part, done, part.length - done, this.at + done)).bytesWritten;
    for (const hash of this.#hashes) hash.update(part);
    this.at += part.length;
  }
}
