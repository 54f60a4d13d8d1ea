// What a host sees of some folders: the names and sizes of their files. Two hosts of a network file system may see
// different files for a while; equal views have equal digests, however many files there are.
import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

export type FileView = {
  files: number;
  bytes: number;
  /** SHA-256 of all kinds, names and sizes. */
  digest: string;
};

/** Of these entries of `folder` and all below them. What is missing or cannot be read is part of the view. */
export function fileView(folder: string, entries: readonly string[]): FileView {
  const hash = createHash("sha256");
  const view = { files: 0, bytes: 0 };
  const add = (path: Buffer, name: Buffer) => {
    hash.update(name);
    try {
      const stats = lstatSync(path);
      if (stats.isDirectory()) {
        // opening the folder makes a client of NFS ask its server; the folder's own size depends on the host
        const names = readdirSync(path, { encoding: "buffer" }).sort(Buffer.compare);
        hash.update(`\0${names.length} entries\0`);
        for (const one of names) add(joined(path, one), one);
        return;
      }
      hash.update(`\0${stats.isFile() ? "file" : "other"} ${stats.size}\0`);
      view.files++;
      view.bytes += stats.size;
    } catch (error) {
      hash.update(`\0${(error as NodeJS.ErrnoException).code}\0`); // e.g. a path that is too long
    }
  };
  for (const entry of entries) add(Buffer.from(join(folder, entry)), Buffer.from(entry));
  return { ...view, digest: hash.digest("hex") };
}

/** Names need not be UTF-8. */
function joined(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}
