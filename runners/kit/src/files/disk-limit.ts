// Measures what a sandbox uses of the disk, against its limit: by the kernel where its folder is a file system of
// its own, else by counting.
import { execFile } from "node:child_process";
import { statfsSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { openFiles } from "../processes/open-files.ts";
import { quiet } from "../processes/process-table.ts";
import { DiskEstimate } from "./disk-estimate.ts";
import { diskImageUse, hasDiskImage } from "./disk-image.ts";

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

const run = promisify(execFile);

// du follows no link and treats no name as a path. It needs a tenth of a second for a hundred thousand files.

/** A file system can run out of inodes as well as bytes: ext4 has one for every 16 KiB (mke2fs.conf, inode_ratio). */
const bytesPerInode = 16_384;

/** Bytes used, with at least 16 KiB for every file and folder; 0 without du. */
async function diskUsed(folder: string): Promise<number> {
  const [blocks, inodes] = await Promise.all([
    counted("--block-size=1", folder),
    counted("--inodes", folder),
  ]);
  return Math.max(blocks, inodes * bytesPerInode);
}

async function counted(what: string, folder: string): Promise<number> {
  const du = ["du", "--summarize", "--one-file-system", what, "--", folder];
  // a program inside may deny this user access to its folders; root of a user namespace can still read them
  const argv = process.getuid?.() === 0 ? du : ["unshare", "--user", "--map-root-user", ...du];
  // du exits with 1 if a file vanished meanwhile, and prints the sum all the same
  const { stdout } = await run(argv[0]!, argv.slice(1)).catch((error: { stdout?: string }) => error);
  return Number(/^(\d+)\t/.exec(stdout ?? "")?.[1] ?? 0);
}
