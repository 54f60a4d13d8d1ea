// Contents by the sha256 of their bytes, each once. A content enters by temporary name and rename, unsynced: every reader
// checks the digest, so a content torn by a power cut is found, removed and made again. Attempts cannot be made again and
// are synced in their own folders. A file in the store is never written to: it may have names in records and in inputs of
// stages.
import { hash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { processName } from "@mlrb/kit/processes/process-name";
import { chunkBytes, copyHashing, hashFile, hashSmallFile } from "../digests/hash-file.ts";
import { tryLink } from "./hard-link.ts";

export type PutOptions = {
  /** The source is removed. */
  move?: boolean;
  /** The source stays. A large file that no user may write gets another name in the store. */
  link?: boolean;
  /** Digests that are known already, by path; what the store holds under them was checked. */
  digests?: ReadonlyMap<string, string>;
  /** What lstat says of it, where it was asked already. */
  stats?: ReadonlyMap<string, Stats>;
  /** Copies of large files that were made already, in the store's folder, by inode: they are put in place. */
  copies?: ReadonlyMap<string, MadeCopy>;
  /** With `move`: how many names of an inode are taken. One that has more elsewhere is copied. */
  names?: ReadonlyMap<string, number>;
  /** Without `move`: digests by inode, kept from one to the next, so that many names are read once. */
  read?: Map<string, string>;
};

export type MadeCopy = { path: string; digest: string };

/** Up to here a content is read at once. */
const smallBytes = 1 << 18;

/** Thrown where a content is not in the store or is not what its name says. */
export class MissingContent extends Error {}

/** From here on a content is worth a hard link: two names of one inode in place of two copies. */
export const sharedBytes = chunkBytes + 1;

/** Identifies the content of a file, unless a program hides a change of it. */
export function inodeOf({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs}`;
}

export class Contents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Absolute path of a content, for reading only. */
  pathOf(digest: string): string {
    // sixteen folders: a new one costs as much as ten files
    return join(this.#folder, digest.slice(0, 1), digest.slice(1));
  }

  has(digest: string): boolean {
    return existsSync(this.pathOf(digest));
  }

  /** Whether the content is there in its full length: a content torn by a power cut is shorter, and is put in again. */
  #holds(digest: string, bytes: number): boolean {
    return statSync(this.pathOf(digest), { throwIfNoEntry: false })?.size === bytes;
  }

  /** Takes a plain file in. */
  put(path: string, options: PutOptions = {}): string {
    const stats = options.stats?.get(path) ?? lstatSync(path);
    const made = options.copies?.get(inodeOf(stats));
    if (made) {
      if (existsSync(made.path)) this.#settle(made.path, made.digest); // else another name of it did
      return made.digest;
    }
    // another name of the same file could still be written through
    const mayMove = options.move && stats.nlink === (options.names?.get(inodeOf(stats)) ?? 1);
    const digest = mayMove ? this.#moved(path, stats, options) : this.#linked(path, stats, options);
    return digest ?? (stats.size <= smallBytes ? this.#readIn(path) : this.#copied(path));
  }

  /** Undefined where it has to be copied. */
  #moved(path: string, { size, nlink }: Stats, { digests }: PutOptions): string | undefined {
    const small = size <= chunkBytes;
    const known = digests?.get(path);
    const digest = known ?? (small ? hashSmallFile(path, size) : hashFile(path));
    // a small one is put in place as quickly as it is found to be there
    const held = !small && this.#holds(digest, size) && (known !== undefined || this.#isWhole(digest));
    if (!held && !this.#moveIn(path, digest)) return undefined;
    if (held || nlink > 1) rmSync(path, { force: true }); // a name that a rename onto itself leaves, too
    return digest;
  }

  /** One rename puts it in place; false where the two lie on different file systems. */
  #moveIn(path: string, digest: string): boolean {
    chmodSync(path, 0o444);
    const to = this.pathOf(digest);
    if (tryRename(path, to)) return true;
    if (existsSync(dirname(to))) return false;
    mkdirSync(dirname(to), { recursive: true });
    return tryRename(path, to);
  }

  /** Undefined where it has to be copied. */
  #linked(path: string, stats: Stats, { link = false, read }: PutOptions): string | undefined {
    if (read === undefined || stats.size < sharedBytes) return undefined;
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
    const temporary = this.temporary();
    try {
      if (!tryLink(path, temporary)) return false;
      this.#putInPlace(temporary, digest);
      return true;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** A small one: what the store holds already is not written, and the rest needs half the calls of a copy. */
  #readIn(path: string): string {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return this.#written(readFileSync(file));
    } finally {
      closeSync(file);
    }
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

  /** Takes text in and gives its digest. */
  putText(text: string): string {
    return this.#written(Buffer.from(text));
  }

  #written(bytes: Buffer): string {
    const digest = hash("sha256", bytes);
    if (this.#holds(digest, bytes.length)) return digest;
    const temporary = this.temporary();
    try {
      writeFileSync(temporary, bytes, { flag: "wx" });
      chmodSync(temporary, 0o444); // a mode given to open is less than the user's umask
      this.#putInPlace(temporary, digest);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return digest;
  }

  /** A path that nothing else has, from where a rename puts a content in place. */
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

  /** A content, checked. Throws MissingContent. */
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

  /** Reads it through. Throws MissingContent where it is not what its name says, and removes it. */
  check(digest: string): void {
    if (!this.#isWhole(digest)) this.discard(digest);
  }

  #isWhole(digest: string): boolean {
    return hashFile(this.pathOf(digest)) === digest;
  }

  /** Takes its name away; attempts' records that share it keep theirs. */
  remove(digest: string): void {
    rmSync(this.pathOf(digest), { force: true });
  }

  /** A damaged content is worse than none: it would be found again by every reader. */
  discard(digest: string): never {
    this.remove(digest);
    throw new MissingContent(`${digest} in the store was damaged and has been removed`);
  }
}

/** Whether only root may write the file and this user owns it, as files in the store and in records. */
export function isSealed({ mode, uid }: Stats): boolean {
  return (mode & 0o333) === 0 && uid === process.getuid?.();
}

/** False where the two lie on different file systems, or where there is no folder to go to. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EXDEV" || code === "ENOENT") return false;
    throw error;
  }
}
