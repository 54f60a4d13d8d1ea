// A download that is continued where its connection broke. The bytes are counted and hashed as they come, so that a
// server can neither fill the disk nor pass off other bytes.
import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { RemoteTrouble, troubleOf } from "./remote-trouble.ts";

/** Where a try begins, and where its bytes go. */
export type From = {
  /** From 1. */
  try: number;
  /** The bytes that are there. */
  at: number;
  restart: () => void;
  write: (part: Buffer) => Promise<void>;
};

type Wanted = { digest: string; bytes: number; tries: number; signal: AbortSignal };

/** The state of one download over its tries. */
export class ResumedDownload {
  readonly #file: FileHandle;
  readonly #wanted: Wanted;
  #hash: Hash = createHash("sha256");
  #at = 0;

  constructor(file: FileHandle, wanted: Wanted) {
    this.#file = file;
    this.#wanted = wanted;
  }

  /** Each try must bring something; after `tries` without progress it fails. */
  async run(fetchPart: (from: From) => Promise<void>): Promise<void> {
    const { bytes, digest, tries, signal } = this.#wanted;
    let best = 0;
    for (let tried = 1; this.#at < bytes; tried++) {
      try {
        await fetchPart({
          try: tried,
          at: this.#at,
          restart: () => this.#restart(),
          write: (part) => this.#write(part),
        });
        if (this.#at < bytes) throw new RemoteTrouble("failing", "it sent less of a content than there is");
      } catch (error) {
        signal.throwIfAborted();
        const trouble = troubleOf(error);
        if (trouble.kind !== "failing" && trouble.kind !== "silent") throw trouble;
        if (this.#at > best) {
          best = this.#at;
          tried = 1;
        } else if (tried >= tries) throw trouble;
      }
    }
    if (this.#hash.digest("hex") !== digest)
      throw new RemoteTrouble("wrong-bytes", `it sent other bytes than those of ${digest.slice(0, 12)}`);
  }

  #restart(): void {
    this.#hash = createHash("sha256");
    this.#at = 0;
  }

  async #write(part: Buffer): Promise<void> {
    const { digest, bytes } = this.#wanted;
    if (this.#at + part.length > bytes)
      throw new RemoteTrouble("wrong-bytes", `it sent more bytes than ${digest.slice(0, 12)} has`);
    // a disk that is nearly full takes a part of it, and fails only then
    for (let done = 0; done < part.length; )
      done += (await this.#file.write(part, done, part.length - done, this.#at + done)).bytesWritten;
    this.#hash.update(part);
    this.#at += part.length;
  }
}
