// Copies a record to a user's folder. Files that share an inode in the record also share one in the copy, if its
// file system has links. The copy shares no file with the record, because users write in their folders.
import { randomBytes } from "node:crypto";
import { constants, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { processName } from "@mlrb/kit/processes/process-name";
import { inodeOf } from "../../store/content-store.ts";
import { tryLink } from "../../store/hard-link.ts";

/** `record`: a record's folder. `copied`: the copy's path by inode, kept across several exports. */
export function exportRecord(record: string, to: string, copied: Map<string, string>): void {
  if (existsSync(to)) return;
  // a complete export or none: the next export continues one that was cut short
  const temporary = `${to}.${processName}-${randomBytes(6).toString("hex")}.tmp`;
  const here = new Map<string, string>();
  try {
    copyFolder(record, temporary, (from, path) => {
      const stats = lstatSync(from);
      const inode = inodeOf(stats);
      const before = here.has(inode) ? join(temporary, here.get(inode)!) : copied.get(inode);
      if (before !== undefined && tryLink(before, join(temporary, path))) return;
      copyFileSync(from, join(temporary, path), constants.COPYFILE_FICLONE);
      if (stats.nlink > 1) here.set(inode, path);
    });
    renameSync(temporary, to);
  } finally {
    removeFolder(temporary);
  }
  for (const [inode, path] of here) copied.set(inode, join(to, path));
}

function copyFolder(from: string, to: string, file: (from: string, path: string) => void, path = ""): void {
  mkdirSync(join(to, path));
  for (const entry of readdirSync(join(from, path), { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) copyFolder(from, to, file, inside);
    else file(join(from, inside), inside);
  }
}
