// Contents by the sha256 of their bytes, each once. A content enters by temporary name and rename, unsynced. Every
// reader checks the digest, so a content torn by a power cut is found, removed and made again. Attempts cannot be
// made again and are synced in their own folders. A file in the store is never written to: it may have names in
// records and in inputs of stages.
import { hash, randomBytes } from "node:crypto";
import {
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { openedFile } from "@mlrb/kit/files/opened-file";
import { processName } from "@mlrb/kit/processes/process-name";
import type { AbsentFiles } from "../digests/artifact-digest.ts";
import { chunkBytes, copyHashing, hashFile } from "../digests/hash-file.ts";
import { tryLink } from "./hard-link.ts";

export type PutOptions = {
  /** The source is removed. */
  move?: boolean;
  /** The source stays. A large file that no user may write gets a second name in the store. */
  link?: boolean;
  /** With `link`: the size in bytes from which a file counts as large; `sharedBytes` by default. */
  linkBytes?: number;
  /** Known digests by path; the contents that the store holds under them were checked. */
  digests?: ReadonlyMap<string, string>;
  /** Known lstat results by path. */
  stats?: ReadonlyMap<string, Stats>;
  /** Prepared copies of large files, in the store's folder, by inode. They are put in place. */
  copies?: ReadonlyMap<string, MadeCopy>;
  /** With `move`: how many names of an inode are ingested. A file with more names elsewhere is copied. */
  names?: ReadonlyMap<string, number>;
  /** Files that a folder no longer has but that count in its digest, by path. */
  absent?: AbsentFiles;
  /** Without `move`: digests by inode, kept across calls, so that a file with many names is read once. */
  read?: Map<string, string>;
};

export type MadeCopy = { path: string; digest: string };

/** Size in bytes up to which a content is read at once. */
export const smallBytes = 1 << 18;

/** Thrown if a content is not in the store or does not match its digest. */
export class MissingContent extends Error {}

/** Size in bytes from which a content is worth a hard link: two names of one inode instead of two copies. */
export const sharedBytes = chunkBytes + 1;

/** Identifies the content of a file, unless a program hides a change of the content. */
export function inodeOf({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs}`;
}

export class Contents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Absolute path of a content. Read only. */
  pathOf(digest: string): string {
    // sixteen folders: a new folder costs as much as ten files
    return join(this.#folder, digest.slice(0, 1), digest.slice(1));
  }

  has(digest: string): boolean {
    return existsSync(this.pathOf(digest));
  }

  /**
   * Whether the content is present in its full length. A content torn by a power cut is shorter, and is put in
   * again.
   */
  #holds(digest: string, bytes: number): boolean {
    return statSync(this.pathOf(digest), { throwIfNoEntry: false })?.size === bytes;
  }

  /** Ingests a plain file. */
  putFile(path: string, options: PutOptions = {}): string {
    const stats = options.stats?.get(path) ?? lstatSync(path);
    const made = options.copies?.get(inodeOf(stats));
    if (made) {
      if (existsSync(made.path)) this.#settle(made.path, made.digest); // else another name of it is settled
      return made.digest;
    }
    // another name of the same file would still allow writes to the content
    const mayMove = options.move && stats.nlink === (options.names?.get(inodeOf(stats)) ?? 1);
    const digest = mayMove ? this.#moved(path, stats, options) : this.#linked(path, stats, options);
    return digest ?? (stats.size <= smallBytes ? this.#readIn(path) : this.#copied(path));
  }

  /** Undefined if the file has to be copied. */
  #moved(path: string, { size, nlink }: Stats, { digests }: PutOptions): string | undefined {
    const known = digests?.get(path);
    const digest = known ?? hashFile(path);
    // putting a small content in place is as quick as checking that it is present
    const mayBeHeld = size >= sharedBytes && this.#holds(digest, size);
    const held = mayBeHeld && (known !== undefined || this.#isWhole(digest));
    if (!held && !this.#moveIn(path, digest)) return undefined;
    if (held || nlink > 1) rmSync(path, { force: true }); // a rename onto the same inode keeps it
    return digest;
  }

  /** Puts the file in place with one rename. Returns false if the two paths are on different file systems. */
  #moveIn(path: string, digest: string): boolean {
    chmodSync(path, 0o444);
    try {
      this.#putInPlace(path, digest);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
      return false;
    }
  }

  /** Undefined if the file has to be copied. */
  #linked(
    path: string,
    stats: Stats,
    { link = false, linkBytes = sharedBytes, read }: PutOptions,
  ): string | undefined {
    if (read === undefined || stats.size < linkBytes) return undefined;
    const inode = inodeOf(stats);
    const known = read.get(inode);
    const digest = known ?? hashFile(path);
    read.set(inode, digest);
    if (this.#holds(digest, stats.size)) {
      if (known !== undefined || this.#isWhole(digest)) return digest;
      this.remove(digest);
    }
    return link && isSealed(stats) && this.#linkIn(path, digest) ? digest : undefined;
  }

  #linkIn(path: string, digest: string): boolean {
    try {
      return tryLink(path, this.pathOf(digest));
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "EEXIST") throw error; // no folder yet, or a torn content is in its place
    }
    const temporary = this.temporary();
    try {
      if (!tryLink(path, temporary)) return false;
      this.#putInPlace(temporary, digest);
      return true;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** Ingests a small file. A content that the store holds is not written; any other needs half the calls of a copy. */
  #readIn(path: string): string {
    using file = openedFile(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return this.#written(readFileSync(file.descriptor));
  }

  #copied(path: string): string {
    const temporary = this.temporary();
    try {
      const digest = copyHashing(path, temporary);
      this.#settle(temporary, digest);
      return digest;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** Stores a text and returns its digest. */
  putText(text: string): string {
    return this.#written(Buffer.from(text));
  }

  #written(bytes: Buffer): string {
    const digest = hash("sha256", bytes);
    if (this.#holds(digest, bytes.length)) return digest;
    const temporary = this.temporary();
    try {
      writeFileSync(temporary, bytes, { flag: "wx" });
      chmodSync(temporary, 0o444); // the user's umask reduces a mode that is passed to open
      this.#putInPlace(temporary, digest);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return digest;
  }

  /** Returns an unused path in the store, from which a rename puts a content in place. */
  temporary(): string {
    return join(this.#folder, `tmp-${processName}-${randomBytes(6).toString("hex")}`);
  }

  #settle(temporary: string, digest: string): void {
    if (this.#holds(digest, lstatSync(temporary).size)) {
      rmSync(temporary);
      return;
    }
    chmodSync(temporary, 0o444);
    this.#putInPlace(temporary, digest);
  }

  #putInPlace(temporary: string, digest: string): void {
    const path = this.pathOf(digest);
    try {
      renameSync(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      mkdirSync(dirname(path), { recursive: true });
      renameSync(temporary, path);
    }
  }

  /** Returns a checked content. Throws MissingContent. */
  read(digest: string): Buffer {
    let content: Buffer;
    try {
      content = readFileSync(this.pathOf(digest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw new MissingContent(`the store lacks ${digest}`);
    }
    if (hash("sha256", content) !== digest) this.discard(digest);
    return content;
  }

  /** Reads a content in full. If the content does not match its digest, removes it and throws MissingContent. */
  check(digest: string): void {
    if (!this.#isWhole(digest)) this.discard(digest);
  }

  #isWhole(digest: string): boolean {
    return hashFile(this.pathOf(digest)) === digest;
  }

  /** Removes a content's name. Records that share the content keep their names. */
  remove(digest: string): void {
    rmSync(this.pathOf(digest), { force: true });
  }

  /** Removes a damaged content, because every reader would find it again. A missing content is better. */
  discard(digest: string): never {
    this.remove(digest);
    throw new MissingContent(`${digest} in the store was damaged and has been removed`);
  }
}

/** Whether only root may write the file and this user owns it, as for files in the store and in records. */
export function isSealed({ mode, uid }: Stats): boolean {
  return (mode & 0o333) === 0 && uid === process.getuid?.();
}
