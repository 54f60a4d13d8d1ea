import { mkdirSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { processName } from "@mlrb/kit/processes/process-name";
import { quiet } from "@mlrb/kit/processes/process-table";

/**
 * Removes the folder of an attempt that is kept as a record, or of which nothing is kept. The folder is renamed
 * first, so that a kill leaves no folder that looks like a lost attempt. A later run clears the renamed folder
 * (clear-unfinished). No-op where the folder is missing. Uses several threads: on a disk that was just synced, 4
 * 000 files take 0.5 s instead of 5 to 10.
 */
export async function removeAttempt(path: string): Promise<void> {
  const records = join(path, "../../records");
  const moved = join(records, `tmp-${processName}-${basename(path)}`);
  await removeDiskImages(path); // a killed supervisor leaves its sandbox mounted
  try {
    mkdirSync(records, { recursive: true });
    renameSync(path, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  // its attempt is settled: an error here would count as a failure of the attempt
  await rm(moved, { recursive: true, force: true }).catch(() => quiet(() => removeFolder(moved)));
}
