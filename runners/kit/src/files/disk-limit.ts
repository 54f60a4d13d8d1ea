// Measures what a sandbox uses of the disk, against its limit: by the kernel where its folder is a file system of
// its own, else by counting.
import { statfsSync, statSync } from "node:fs";
import { openFiles } from "../processes/open-files.ts";
import { quiet } from "../processes/process-table.ts";
import { DiskEstimate } from "./disk-estimate.ts";
import { diskImageUse, hasDiskImage } from "./disk-image.ts";
import { diskUsed } from "./disk-used.ts";

/** Measures now. Undefined within the limit. */
export type DiskLook = () => Promise<{ limit: "disk"; detail: string } | undefined>;

/** `find` lists the sandbox's processes that live now. Call it before programs run. */
export async function diskLimit(
  folder: string,
  { limitBytes, find }: { limitBytes: number; find: () => readonly number[] },
): Promise<DiskLook> {
  const used = hasDiskImage(folder) ? async () => diskImageUse(folder) : await counting(folder, find);
  return async () => {
    const bytes = await used();
    if (bytes <= limitBytes) return undefined;
    return { limit: "disk", detail: `its files together took ${bytes} bytes of ${limitBytes}` };
  };
}

async function counting(folder: string, find: () => readonly number[]): Promise<() => Promise<number>> {
  const device = statSync(folder).dev;
  const estimate = new DiskEstimate();
  let freeBytes = 0;
  const look = async () => {
    const namedBytes = await diskUsed(folder);
    const now = quiet(() => statfsSync(folder)); // it may be removed meanwhile
    if (now) freeBytes = now.bfree * now.bsize;
    return estimate.next({ ...openFiles(find, device), namedBytes, freeBytes });
  };
  await look();
  return look;
}
