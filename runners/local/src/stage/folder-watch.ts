// Finds names that appeared or disappeared in the folders of a stage's patterns during its run. A file that was added
// and removed leaves no trace in the lists before and after, and the stage may have read the file. The kernel reports
// the names, so files of editors and interpreters do not count. Where the kernel cannot (no watch left, a disk of
// another host), the stat of the folder still shows a change.
import { type FSWatcher, watch } from "node:fs";
import { basename, join, matchesGlob } from "node:path";
import { foldersOfPattern, isLeftBehind, statText } from "../decide/consulted-files.ts";
import { type IsUntouched, watchWrites } from "./write-watch.ts";

export type FolderWatch = {
  /** A path that appeared or disappeared. Where the name is unknown: the folder, with a slash at its end. */
  changed(): Promise<string | undefined>;
  close(): void;
};

type Watched = {
  folder: string;
  /** The pattern of the names that count; undefined: every name counts. */
  names: string | undefined;
  stat: string;
  watcher: FSWatcher | undefined;
  seen: Set<string>;
};

/** `patterns` as filesMatching takes them. */
export async function watchFolders(
  root: string,
  patterns: readonly string[],
  watching = watch,
): Promise<FolderWatch> {
  const watched = new Map<string, Watched>();
  const all = patterns.flatMap((pattern) => foldersOfPattern(root, pattern));
  const folders = new Set(all.map(({ folder }) => folder));
  const untouched = await watchWrites([...folders].map((folder) => join(root, folder)));
  const isUntouched = async (path: string) => folders.has(path) && (await untouched(join(root, path)));
  for (const { folder, names } of all) {
    const key = `${folder}\0${names ?? ""}`;
    if (watched.has(key)) continue;
    const one: Watched = { folder, names, stat: statText(root, folder), watcher: undefined, seen: new Set() };
    try {
      one.watcher = watching(join(root, folder), { persistent: false });
      one.watcher.on("change", (kind, name) => one.seen.add(kind === "rename" ? String(name) : ""));
      one.watcher.on("error", () => {}); // the folder's stat remains as a check
    } catch {
      // no watch left on this machine: the folder's stat remains as a check
    }
    watched.set(key, one);
  }
  return {
    async changed() {
      if (watched.size === 0) return undefined;
      // the kernel's notes arrive in the next round of the loop; the current round may be ending
      for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve));
      for (const one of watched.values()) {
        const found = await cameOrWent(root, one, isUntouched);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    close() {
      for (const { watcher } of watched.values()) watcher?.close();
    },
  };
}

/** A new mode or time of a folder is an event like a name that came or went (libuv takes IN_ISDIR for one). */
async function cameOrWent(
  root: string,
  { folder, names, stat, seen }: Watched,
  isUntouched: IsUntouched,
): Promise<string | undefined> {
  const own = basename(join(root, folder));
  for (const name of seen) {
    if (name === "" || name === own || isLeftBehind(name)) continue;
    if (names !== undefined && !matchesGlob(name, names)) continue;
    if (!(await isUntouched(inFolder(folder, name)))) return inFolder(folder, name);
  }
  // an event with the folder's own name is about the folder
  const unexplained = seen.size === 0 || (seen.has(own) && !(await isUntouched(folder)));
  return unexplained && statText(root, folder) !== stat ? inFolder(folder, "") : undefined;
}

function inFolder(folder: string, name: string): string {
  return folder === "." ? name || "./" : `${folder}/${name}`;
}
