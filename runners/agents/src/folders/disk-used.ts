// What a hostile folder takes of the disk. Counted by du, which follows no link and takes no name for a path
// of its own; a hundred thousand files take it a tenth of a second.
import { execa } from "execa";

/** A file system runs out of inodes as of bytes: ext4 has one for every 16 KiB (mke2fs.conf, inode_ratio). */
const bytesPerInode = 16_384;

/** Bytes that are taken, every file and folder counted as 16 KiB at least; undefined where du cannot be had. */
export async function diskUsed(folder: string): Promise<number | undefined> {
  const [blocks, inodes] = await Promise.all([
    counted("--block-size=1", folder),
    counted("--inodes", folder),
  ]);
  if (blocks === undefined || inodes === undefined) return undefined;
  return Math.max(blocks, inodes * bytesPerInode);
}

async function counted(what: string, folder: string): Promise<number | undefined> {
  const du = ["du", "--summarize", "--one-file-system", what, "--", folder];
  // a program inside may close folders to its own user, who is this one; root of a user namespace still reads them
  const argv = process.getuid?.() === 0 ? du : ["unshare", "--user", "--map-root-user", ...du];
  const { stdout } = await execa(argv[0]!, argv.slice(1), {
    reject: false,
    stderr: "ignore",
    stdin: "ignore",
  });
  const number = /^(\d+)\t/.exec(stdout ?? "")?.[1];
  return number === undefined ? undefined : Number(number);
}
