// Makes written files survive a power cut. Syncing file by file costs a commit of the file system's journal each: 30
// 000 files took 86 s on ext4. Many files are synced by one call for their whole file system (syncfs), which took 3
// s. Node does not offer syncfs; `sync -f` of coreutils and busybox does.
import { spawnSync } from "node:child_process";
import { constants, fsyncSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openedFile } from "@mlrb/kit/files/opened-file";

/** From this count on, one call for the file system is quicker, although it also waits for other programs' writes. */
const manyFiles = 200;

type Calls = {
  /** fsync. */
  path: (path: string) => void;
  /** syncfs. Returns false if this machine has no such call; nothing is then known to be durable. */
  fileSystem: (path: string) => boolean;
};

/** Makes a folder and its contents survive a power cut. Links in the folder are not followed. */
export function syncFolder(folder: string, calls: Calls = { path: syncPath, fileSystem }): void {
  syncPaths([...pathsIn(folder)], folder, calls);
}

/** Makes files and folders, all on the file system of `folder`, survive a power cut. */
export function syncPaths(
  paths: readonly string[],
  folder: string,
  calls: Calls = { path: syncPath, fileSystem },
): void {
  if (paths.length >= manyFiles && calls.fileSystem(folder)) return;
  for (const path of paths) calls.path(path);
}

/** Yields files and folders, the contents of a folder before the folder. */
function* pathsIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* pathsIn(path);
    else if (entry.isFile()) yield path;
  }
  yield folder;
}

/** On other systems than Linux `sync` returns before the data is on the disk, and may not support -f. */
function fileSystem(path: string): boolean {
  if (process.platform !== "linux") return false;
  const { status } = spawnSync("sync", ["-f", path], { stdio: "ignore" });
  return status === 0;
}

export function syncPath(path: string): void {
  using file = openedFile(path, constants.O_RDONLY);
  fsyncSync(file.descriptor);
}
