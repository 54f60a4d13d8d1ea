// The content-addressed store: each content once, under the sha256 of its bytes. A folder is a tree
// object (names, executable bits, digests) that is content itself, so its digest is a Merkle root.
// What enters comes by temporary name and rename, unsynced: every reader checks the digest, so a content
// torn by a power cut is found, removed and made again. Attempts, which cannot be, are synced in their
// own folders. What leaves is copied, because a consumer that runs as root would write through a hard
// link into the store.
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";

export type Artifact = { kind: "file" | "dir"; digest: string };

type TreeEntry = { name: string; kind: "file" | "dir"; digest: string; executable?: true };

/** Thrown by `restore` when content is not in the store or is not what its name says. */
export class MissingContent extends Error {}

export class Store {
  readonly #blobs: string;

  constructor(blobs: string) {
    this.#blobs = blobs;
  }

  #path(digest: string): string {
    return join(this.#blobs, digest.slice(0, 2), digest.slice(2));
  }

  has(digest: string): boolean {
    return existsSync(this.#path(digest));
  }

  /** Whether the content is there in its length: what a power cut tore is shorter, and is put in anew. */
  #holds(digest: string, bytes: number): boolean {
    return statSync(this.#path(digest), { throwIfNoEntry: false })?.size === bytes;
  }

  /** Removes what was put in since `sinceMs` and is not what its name says; for after a power cut. */
  removeTorn(sinceMs: number): void {
    for (const part of readdirSync(this.#blobs)) {
      const folder = join(this.#blobs, part);
      if (!statSync(folder).isDirectory()) continue;
      for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        // putting in and moving change it; a stage can set the other times to anything
        if (statSync(path).ctimeMs >= sinceMs && hashFile(path) !== part + name)
          rmSync(path, { force: true });
      }
    }
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
  put(path: string, kind: "file" | "dir", { move = false }: { move?: boolean } = {}): Artifact {
    const found = lstatSync(path);
    if (kind === "file" ? !found.isFile() : !found.isDirectory()) {
      throw new Error(`is not a ${kind === "file" ? "file" : "folder"}`);
    }
    return { kind, digest: kind === "file" ? this.#putFile(path, move) : this.#putFolder(path, "", move) };
  }

  #putFile(path: string, move: boolean): string {
    const temporary = join(this.#blobs, `tmp-${process.pid}-${randomBytes(6).toString("hex")}`);
    try {
      let digest: string | undefined;
      // another name of the same file could still be written through
      if (move && lstatSync(path).nlink === 1) {
        digest = hashFile(path);
        if (this.#holds(digest, lstatSync(path).size)) return digest;
        if (!tryRename(path, temporary)) digest = undefined;
      }
      digest ??= copyHashing(path, temporary);
      this.#settle(temporary, digest);
      return digest;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  #putFolder(folder: string, inside: string, move: boolean): string {
    const entries: TreeEntry[] = [];
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const stats = lstatSync(path);
      const shown = inside ? `${inside}/${name}` : name;
      if (stats.isDirectory()) {
        entries.push({ name, kind: "dir", digest: this.#putFolder(path, shown, move) });
      } else if (stats.isFile()) {
        const executable = (stats.mode & 0o111) !== 0;
        entries.push({
          name,
          kind: "file",
          digest: this.#putFile(path, move),
          ...(executable && { executable: true }),
        });
      } else {
        throw new Error(`holds ${shown}, which is ${stats.isSymbolicLink() ? "a link" : "not a plain file"}`);
      }
    }
    return this.putText(canonicalJson({ formatVersion: 1, entries }));
  }

  /** Takes text in and gives its digest. */
  putText(text: string): string {
    const digest = createHash("sha256").update(text).digest("hex");
    if (this.#holds(digest, Buffer.byteLength(text))) return digest;
    const temporary = join(this.#blobs, `tmp-${process.pid}-${randomBytes(6).toString("hex")}`);
    const file = openSync(temporary, "wx");
    try {
      writeSync(file, text);
    } finally {
      closeSync(file);
    }
    this.#settle(temporary, digest);
    return digest;
  }

  #settle(temporary: string, digest: string): void {
    const path = this.#path(digest);
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
    let text: string;
    try {
      text = readFileSync(this.#path(digest), "utf8");
    } catch {
      throw new MissingContent(`the store lacks ${digest}`);
    }
    if (createHash("sha256").update(text).digest("hex") !== digest) this.#discard(digest);
    return (JSON.parse(text) as { entries: TreeEntry[] }).entries;
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

  /** Lays a content out at `path`, which must not exist; every byte is checked on the way. Throws MissingContent. */
  restore(artifact: Artifact, path: string, options: { executable?: boolean } = {}): void {
    if (artifact.kind === "dir") {
      mkdirSync(path);
      for (const entry of this.#tree(artifact.digest)) {
        this.restore(entry, join(path, entry.name), { executable: entry.executable ?? false });
      }
      return;
    }
    const from = this.#path(artifact.digest);
    if (!existsSync(from)) throw new MissingContent(`the store lacks ${artifact.digest}`);
    const digest = hashFile(from);
    if (digest !== artifact.digest) this.#discard(artifact.digest);
    copyFileSync(from, path, constants.COPYFILE_FICLONE);
    chmodSync(path, options.executable ? 0o755 : 0o644);
  }

  /** A damaged blob is worse than none: it would be found again by every reader. */
  #discard(digest: string): never {
    rmSync(this.#path(digest), { force: true });
    throw new MissingContent(`${digest} in the store was damaged and has been removed`);
  }

  /** Absolute path of a file's content, for reading only. */
  pathOf(digest: string): string {
    return this.#path(digest);
  }
}

/** False where the two lie on different file systems. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EXDEV") return false;
    throw error;
  }
}

/** Shared by all reads: they are synchronous, and a fresh one a file would be most of the work. */
const chunk = Buffer.allocUnsafeSlow(1 << 20);

/** sha256 of a file's bytes, in hex. */
export function hashFile(path: string): string {
  return throughChunks(path, () => {});
}

/** Makes a folder and everything in it survive a power cut. */
export function syncFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) syncFolder(path);
    else if (entry.isFile()) syncPath(path);
  }
  syncPath(folder);
}

export function syncPath(path: string): void {
  const file = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function copyHashing(from: string, to: string): string {
  const file = openSync(to, "wx");
  try {
    const digest = throughChunks(from, (chunk) => {
      for (let done = 0; done < chunk.length; ) done += writeSync(file, chunk, done);
    });
    return digest;
  } finally {
    closeSync(file);
  }
}

function throughChunks(path: string, visit: (chunk: Buffer) => void): string {
  const hash = createHash("sha256");
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (;;) {
      const count = readSync(file, chunk);
      if (count === 0) return hash.digest("hex");
      hash.update(chunk.subarray(0, count));
      visit(chunk.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}
