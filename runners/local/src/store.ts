// The content-addressed store: each content once, under the sha256 of its bytes. A folder is a tree
// object (names, executable bits, digests) that is content itself, so its digest is a Merkle root.
// What enters comes by temporary name and rename, unsynced: every reader checks the digest, so a content
// torn by a power cut is found, removed and made again. Attempts, which cannot be, are synced in their
// own folders. What leaves is copied, because a consumer that runs as root would write through a hard
// link into the store; lay-out links where the consumer cannot.
import { hash, randomBytes } from "node:crypto";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/process-name";
import { chunkBytes, copyHashing, hashFile, hashSmallFile } from "./hash-file.ts";
import { largeBytes } from "./hash-files.ts";
import { overwrite } from "./overwrite.ts";

export type Artifact = { kind: "file" | "dir"; digest: string };

type TreeEntry = { name: string; kind: "file" | "dir"; digest: string; executable?: true };

export type PutOptions = {
  /** What is taken is gone from where it was. */
  move?: boolean;
  /** Digests that are known already, by path. */
  digests?: ReadonlyMap<string, string>;
  /** What lstat says of it, where it was asked already. */
  stats?: ReadonlyMap<string, Stats>;
};

/** A content that is to be laid out by someone else. */
export type LargeContent = { digest: string; from: string; to: string; executable: boolean };

type RestoreOptions = {
  executable?: boolean;
  /** Is handed files from `largeBytes` on, instead of having them laid out. */
  later?: (large: LargeContent) => void;
};

/** Thrown by `restore` when content is not in the store or is not what its name says. */
export class MissingContent extends Error {}

export class Store {
  readonly #blobs: string;

  constructor(blobs: string) {
    this.#blobs = blobs;
  }

  /** Absolute path of a file's content, for reading only. */
  pathOf(digest: string): string {
    // sixteen folders: a new one costs as much as ten files
    return join(this.#blobs, digest.slice(0, 1), digest.slice(1));
  }

  has(digest: string): boolean {
    return existsSync(this.pathOf(digest));
  }

  /** Whether the content is there in its length: what a power cut tore is shorter, and is put in anew. */
  #holds(digest: string, bytes: number): boolean {
    return statSync(this.pathOf(digest), { throwIfNoEntry: false })?.size === bytes;
  }

  /** Whether everything that `artifact` consists of is there; contents are not read. */
  hasAll({ kind, digest }: Artifact): boolean {
    if (!this.has(digest)) return false;
    return kind === "file" || this.#tree(digest).every((entry) => this.hasAll(entry));
  }

  /**
   * Takes a file or folder in. Throws on links, devices and other things that have no content of their own.
   * With `move` what is taken is gone from where it was: nothing is copied where a rename will do.
   */
  put(path: string, kind: "file" | "dir", options: PutOptions = {}): Artifact {
    const found = lstatSync(path);
    if (kind === "file" ? !found.isFile() : !found.isDirectory()) {
      throw new Error(`is not a ${kind === "file" ? "file" : "folder"}`);
    }
    return {
      kind,
      digest: kind === "file" ? this.#putFile(path, options) : this.#putFolder(path, "", options),
    };
  }

  #putFile(path: string, { move = false, digests, stats }: PutOptions): string {
    let temporary: string | undefined;
    try {
      let digest: string | undefined;
      const { nlink, size } = stats?.get(path) ?? lstatSync(path);
      // another name of the same file could still be written through
      if (move && nlink === 1) {
        const small = size <= chunkBytes;
        digest = digests?.get(path) ?? (small ? hashSmallFile(path, size) : hashFile(path));
        // a small one is put in place as quickly as it is found to be there
        if (!small && this.#holds(digest, size)) return digest;
        if (this.#moveIn(path, digest)) return digest;
        digest = undefined;
      }
      temporary = join(this.#blobs, `tmp-${processName}-${randomBytes(6).toString("hex")}`);
      digest ??= copyHashing(path, temporary);
      this.#settle(temporary, digest);
      return digest;
    } finally {
      if (temporary !== undefined) rmSync(temporary, { force: true });
    }
  }

  #putFolder(folder: string, inside: string, options: PutOptions): string {
    const entries: TreeEntry[] = [];
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const stats = options.stats?.get(path) ?? lstatSync(path);
      const shown = inside ? `${inside}/${name}` : name;
      if (stats.isDirectory()) {
        entries.push({ name, kind: "dir", digest: this.#putFolder(path, shown, options) });
      } else if (stats.isFile()) {
        const executable = (stats.mode & 0o111) !== 0;
        entries.push({
          name,
          kind: "file",
          digest: this.#putFile(path, options),
          ...(executable && { executable: true }),
        });
      } else {
        throw new Error(`holds ${shown}, which is ${stats.isSymbolicLink() ? "a link" : "not a plain file"}`);
      }
    }
    return this.putText(canonicalJson({ formatVersion: 1, entries }));
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

  /** Takes text in and gives its digest. */
  putText(text: string): string {
    const digest = hash("sha256", text);
    if (this.#holds(digest, Buffer.byteLength(text))) return digest;
    const temporary = join(this.#blobs, `tmp-${processName}-${randomBytes(6).toString("hex")}`);
    writeFileSync(temporary, text, { flag: "wx" });
    this.#settle(temporary, digest);
    return digest;
  }

  /** A text that was put in. Throws MissingContent. */
  textOf(digest: string): string {
    return this.#read(digest).toString("utf8");
  }

  #settle(temporary: string, digest: string): void {
    const path = this.pathOf(digest);
    if (this.#holds(digest, lstatSync(temporary).size)) {
      rmSync(temporary);
      return;
    }
    chmodSync(temporary, 0o444);
    try {
      renameSync(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      mkdirSync(dirname(path), { recursive: true });
      renameSync(temporary, path);
    }
  }

  #tree(digest: string): TreeEntry[] {
    return (JSON.parse(this.textOf(digest)) as { entries: TreeEntry[] }).entries;
  }

  /** A content, checked. Throws MissingContent. */
  #read(digest: string): Buffer {
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

  /** Whether everything is there as far as looking at folders tells; what they find damaged is removed. */
  canGive(artifact: Artifact): boolean {
    try {
      return this.hasAll(artifact);
    } catch (error) {
      if (error instanceof MissingContent) return false;
      throw error;
    }
  }

  /** Whether every byte is there and right; what is damaged is removed. */
  isWhole({ kind, digest }: Artifact): boolean {
    if (!this.has(digest)) return false;
    try {
      if (kind === "dir") return this.#tree(digest).every((entry) => this.isWhole(entry));
      if (hashFile(this.pathOf(digest)) !== digest) this.discard(digest);
      return true;
    } catch (error) {
      if (error instanceof MissingContent) return false;
      throw error;
    }
  }

  /** What stands directly in a folder. Throws MissingContent. */
  entriesOf(tree: string): (Artifact & { name: string })[] {
    return this.#tree(tree);
  }

  /** The files of a folder, at any depth, with their digests. Throws MissingContent. */
  filesOf(tree: string): { path: string; digest: string }[] {
    return this.#tree(tree).flatMap(({ name, kind, digest }) =>
      kind === "file"
        ? [{ path: name, digest }]
        : this.filesOf(digest).map((file) => ({ ...file, path: `${name}/${file.path}` })),
    );
  }

  /** Lays a content out at `path`; every byte is checked on the way. Throws MissingContent. */
  restore(artifact: Artifact, path: string, { executable = false, later }: RestoreOptions = {}): void {
    if (artifact.kind === "dir") {
      mkdirSync(path);
      for (const entry of this.#tree(artifact.digest)) {
        this.restore(entry, join(path, entry.name), {
          executable: entry.executable ?? false,
          ...(later && { later }),
        });
      }
      return;
    }
    const from = this.pathOf(artifact.digest);
    const size = statSync(from, { throwIfNoEntry: false })?.size;
    if (size === undefined) throw new MissingContent(`the store lacks ${artifact.digest}`);
    if (later && size >= largeBytes) {
      later({ digest: artifact.digest, from, to: path, executable });
      return;
    }
    if (size <= smallBytes && !executable) {
      overwrite(path, this.#read(artifact.digest));
      return;
    }
    const digest = hashFile(from);
    if (digest !== artifact.digest) this.discard(artifact.digest);
    rmSync(path, { force: true }); // never through what stands there
    copyFileSync(from, path, constants.COPYFILE_FICLONE);
    chmodSync(path, executable ? 0o755 : 0o644);
  }

  /** A damaged blob is worse than none: it would be found again by every reader. */
  discard(digest: string): never {
    rmSync(this.pathOf(digest), { force: true });
    throw new MissingContent(`${digest} in the store was damaged and has been removed`);
  }
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

/** Up to here a content is read at once. */
const smallBytes = 1 << 18;
