// The content-addressed store: files and folders over contents. A folder is a tree object (names, executable bits,
// digests) that is itself a content, so its digest is a Merkle root. Contents are copied out, because a consumer
// that runs as root would write through a hard link into the store. `materialize` links where the consumer cannot
// write. Records are links, because no process writes to them.

import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { canonicalJson } from "@mlrb/kit/json-file";
import { namesWith } from "../digests/artifact-digest.ts";
import { largeBytes } from "../digests/hash-files.ts";
import { Contents, MissingContent, type PutOptions, smallBytes } from "./content-store.ts";
import { ifReadable } from "./if-readable.ts";
import { refuseOther } from "./other-format.ts";
import { overwrite } from "./overwrite-file.ts";

export { MissingContent } from "./content-store.ts";

type TreeEntry = { name: string; kind: "file" | "dir"; digest: string; executable?: true };

/**
 * An imported record can call any content a folder, including an agent's file with names that lead out of the
 * folder. Checked by hand and not by a schema: a status reads every tree, and importing ajv takes longer than
 * that.
 */
function isTreeEntry(entry: unknown): entry is TreeEntry {
  const { name, kind, digest } = Object(entry) as Record<string, unknown>;
  return (
    typeof name === "string" &&
    !/^\.{0,2}$|[/\0]/.test(name) &&
    (kind === "file" || kind === "dir") &&
    typeof digest === "string" &&
    /^[0-9a-f]{64}$/.test(digest)
  );
}

export type IsThinned = (content: string) => boolean;

const never: IsThinned = () => false;

/** A content that the caller is to materialize. */
export type LargeContent = { digest: string; bytes: number; from: string; to: string; executable: boolean };

type RestoreOptions = {
  executable?: boolean;
  /** Receives files of `laterBytes` (`largeBytes`) and more; `restore` then does not materialize them. */
  later?: (large: LargeContent) => void;
  laterBytes?: number;
};

export class Store extends Contents {
  /**
   * Whether all contents of `artifact` are present. Contents are not read. `isThinned`: contents that may be
   * missing, because they were removed on purpose.
   */
  hasAll({ kind, digest }: Artifact, isThinned: IsThinned = never): boolean {
    if (!this.has(digest)) return kind === "file" && isThinned(digest);
    return kind === "file" || this.#tree(digest).every((entry) => this.hasAll(entry, isThinned));
  }

  /**
   * Ingests a file or folder. Throws on links, devices and other entries without content of their own. With `move`
   * the source is removed, and nothing is copied where a rename is enough.
   */
  put(path: string, kind: "file" | "dir", options: PutOptions = {}): Artifact {
    const found = options.stats?.get(path) ?? lstatSync(path);
    if (kind === "file" ? !found.isFile() : !found.isDirectory()) {
      throw new Error(`is not a ${kind === "file" ? "file" : "folder"}`);
    }
    const digest = kind === "file" ? this.putFile(path, options) : this.#putFolder(path, "", options);
    return { kind, digest };
  }

  #putFolder(folder: string, inside: string, options: PutOptions): string {
    const entries: TreeEntry[] = [];
    for (const { name, absent } of namesWith(folder, options.absent)) {
      const path = join(folder, name);
      if (absent) {
        entries.push({ name, kind: "file", ...absent });
        continue;
      }
      const stats = options.stats?.get(path) ?? lstatSync(path);
      const shown = inside ? `${inside}/${name}` : name;
      if (stats.isDirectory()) {
        entries.push({ name, kind: "dir", digest: this.#putFolder(path, shown, options) });
      } else if (stats.isFile()) {
        const executable = (stats.mode & 0o111) !== 0;
        const digest = this.putFile(path, options);
        entries.push({ name, kind: "file", digest, ...(executable && { executable }) });
      } else {
        throw new Error(`holds ${shown}, which is ${stats.isSymbolicLink() ? "a link" : "not a plain file"}`);
      }
    }
    return this.putText(canonicalJson({ formatVersion: 1, entries }));
  }

  /** Returns a stored text. Throws MissingContent. */
  textOf(digest: string): string {
    return this.read(digest).toString("utf8");
  }

  #tree(digest: string): TreeEntry[] {
    const text = this.textOf(digest);
    const tree: unknown = ifReadable(() => JSON.parse(text));
    if (tree === undefined) throw new MissingContent(`${digest} is a file and no folder`);
    const { formatVersion, entries } = Object(tree) as { formatVersion?: unknown; entries?: unknown };
    refuseOther(`folder ${digest.slice(0, 12)} in the store`, formatVersion, 1);
    if (!Array.isArray(entries) || !entries.every(isTreeEntry))
      throw new MissingContent(`${digest} is a file and no folder`);
    return entries;
  }

  /** Whether all contents are present. Only trees are read; a damaged one is removed. */
  canGive(artifact: Artifact, isThinned: IsThinned = never): boolean {
    try {
      return this.hasAll(artifact, isThinned);
    } catch (error) {
      if (error instanceof MissingContent) return false;
      throw error;
    }
  }

  /**
   * Whether every byte is present and correct. Damaged contents are removed. `isThinned`: contents that do not
   * count, because they were removed on purpose, or are about to be.
   */
  isWhole({ kind, digest }: Artifact, isThinned: IsThinned = never): boolean {
    if (kind === "file" && isThinned(digest)) return true;
    if (!this.has(digest)) return false;
    try {
      if (kind === "dir") return this.#tree(digest).every((entry) => this.isWhole(entry, isThinned));
      this.check(digest);
      return true;
    } catch (error) {
      if (error instanceof MissingContent) return false;
      throw error;
    }
  }

  /** The direct entries of a folder. Throws MissingContent. */
  entriesOf(tree: string): (Artifact & { name: string })[] {
    return this.#tree(tree);
  }

  /** The files of a folder, at any depth, with their digests. Throws MissingContent. */
  filesOf(tree: string): { path: string; digest: string; executable?: true }[] {
    return this.#tree(tree).flatMap(({ name, kind, digest, executable }) =>
      kind === "file"
        ? [{ path: name, digest, ...(executable && { executable }) }]
        : this.filesOf(digest).map((file) => ({ ...file, path: `${name}/${file.path}` })),
    );
  }

  /** The same of any artifact; a file has the path "". Undefined if the store no longer knows the folder's files. */
  knownFilesOf(artifact: Artifact): ReturnType<Store["filesOf"]> | undefined {
    if (artifact.kind === "file") return [{ path: "", digest: artifact.digest }];
    return this.canGive(artifact, () => true) ? this.filesOf(artifact.digest) : undefined;
  }

  /** Materializes a content at `path` and checks every byte. Throws MissingContent. */
  restore(artifact: Artifact, path: string, options: RestoreOptions = {}): void {
    const { executable = false, later, laterBytes = largeBytes } = options;
    if (artifact.kind === "dir") {
      mkdirSync(path);
      for (const entry of this.#tree(artifact.digest)) {
        const { name, executable = false } = entry;
        this.restore(entry, join(path, name), { ...options, executable });
      }
      return;
    }
    const from = this.pathOf(artifact.digest);
    const size = statSync(from, { throwIfNoEntry: false })?.size;
    if (size === undefined) throw new MissingContent(`the store lacks ${artifact.digest}`);
    if (later && size >= laterBytes) {
      later({ digest: artifact.digest, bytes: size, from, to: path, executable });
      return;
    }
    if (size <= smallBytes && !executable) {
      overwrite(path, this.read(artifact.digest));
      return;
    }
    this.check(artifact.digest);
    rmSync(path, { force: true }); // never write through an existing link
    copyFileSync(from, path, constants.COPYFILE_FICLONE);
    chmodSync(path, executable ? 0o755 : 0o644);
  }
}
