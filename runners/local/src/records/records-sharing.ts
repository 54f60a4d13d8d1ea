// Finds the records that share the inode of a given file. If a content of the store is damaged, these records are
// damaged too and have no other copy.
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { recordDigests } from "./record-index.ts";

export type Sharing = { record: string; file: string };

/** Returns for each of `inodes` (`fileOf`) the records that hold it, in code-unit order. */
export function recordsSharing(records: string, inodes: ReadonlySet<string>): Map<string, Sharing[]> {
  const found = new Map<string, Sharing[]>();
  for (const record of inodes.size === 0 ? [] : recordDigests(records)) {
    for (const entry of readdirSync(join(records, record), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const inode = fileOf(lstatSync(path));
      if (!inodes.has(inode)) continue;
      const file = path.slice(join(records, record).length + 1);
      found.set(inode, [...(found.get(inode) ?? []), { record, file }]);
    }
  }
  return found;
}

/** Identifies a file under all its names, whatever its content. */
export function fileOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}
