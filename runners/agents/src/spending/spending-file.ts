// The file of an attempt's spending: one line of JSON for each change, on disk before anything else happens.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";

export class SpendingFile {
  readonly #file: number;
  readonly #makeRoom: (() => boolean) | undefined;

  /** `makeRoom` frees reserved room on a full disk; false if none is left. */
  constructor(path: string, makeRoom?: () => boolean) {
    this.#file = openSync(path, "a");
    this.#makeRoom = makeRoom;
  }

  /** Returns once the line is on disk. Throws what the file system throws. */
  append(line: object): void {
    const bytes = Buffer.from(`${canonicalJson(line)}\n`);
    try {
      this.#write(bytes);
    } catch (error) {
      if (!isFullDisk(error) || !this.#makeRoom?.()) throw error;
      this.#write(Buffer.concat([Buffer.from("\n"), bytes])); // after the part that was written
    }
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
  }
}
