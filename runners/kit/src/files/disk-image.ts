// A file system of a limited size for one folder: an ext4 image beside the folder, mounted on it. The kernel then
// holds the limit for all that takes room there: names, deleted files that are only mapped or in a socket's queue,
// inodes. Needs root, a loop device and mkfs.ext4. The image is sparse: it takes what its files take.
// The image keeps its name until its files are taken out, so that they outlive a killed process and a power cut.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statfsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const mib = 1 << 20;
const suffix = ".ext4";
/** ext4 has one inode for every 16 KiB (mke2fs.conf, inode_ratio). */
const bytesPerInode = 16_384;

export type DiskImageSettings = {
  /** What files may take together, each at least 16 KiB. The kernel refuses more than this and 2 % + 16 MiB. */
  bytes: number;
  owner: { uid: number; gid: number };
};

/** Mounts a new file system on `folder`, which is empty. Returns the reason where this host or user has none. */
export async function mountDiskImage(
  folder: string,
  { bytes, owner }: DiskImageSettings,
): Promise<{ mounted: true } | { missing: string }> {
  if (process.platform !== "linux")
    return { missing: `loop devices need Linux, this is ${process.platform}` };
  if (process.getuid?.() !== 0) return { missing: "only root can mount a file system" };
  const image = folder + suffix;
  try {
    writeFileSync(image, "", { mode: 0o600, flag: "wx" });
    truncateSync(image, imageBytes(bytes));
    await run("mkfs.ext4", [
      ...["-q", "-F", "-b", "4096", "-I", "256", "-i", String(bytesPerInode), "-m", "0"],
      ...["-J", `size=${journalMib(bytes)}`],
      ...["-E", `lazy_itable_init=1,lazy_journal_init=1,nodiscard,root_owner=${owner.uid}:${owner.gid}`],
      image,
    ]);
    await mount(image, folder);
    await rmdir(join(folder, "lost+found"));
    return { mounted: true };
  } catch (error) {
    await removeDiskImage(folder);
    return { missing: lastLine(error) };
  }
}

/** Mounts the image of `folder` if it has one. It stays mounted when a process is killed, and not when a host is. */
export async function mountDiskImageAgain(folder: string): Promise<void> {
  const image = folder + suffix;
  if (existsSync(image) && !isMountPoint(folder) && readdirSync(folder).length === 0)
    await mount(image, folder);
}

/** Bytes that files take in the file system mounted on `folder`; each counts at least as an inode does. */
export function diskImageUse(folder: string): number {
  const { blocks, bfree, bsize, files, ffree } = statfsSync(folder);
  return Math.max((blocks - bfree) * bsize, (files - ffree) * bytesPerInode);
}

/** Gives the room of deleted files back to the host's disk at once. */
export async function trimDiskImage(folder: string): Promise<void> {
  await quiet(run("fstrim", [folder]));
}

/** Whether the kernel limits what files in `folder` take. */
export function hasDiskImage(folder: string): boolean {
  return existsSync(folder + suffix) && isMountPoint(folder);
}

/** Removes the file system with its files. Call when no process uses it. */
export async function removeDiskImage(folder: string): Promise<void> {
  await unmount(folder);
  await rm(folder + suffix, { force: true });
}

/**
 * Makes `folder` an ordinary folder with the same files, and removes the image. Call when no process uses it.
 * Throws if the image cannot be mounted or a file cannot be copied, e.g. without room; the image then stays.
 */
export async function extractDiskImage(folder: string): Promise<void> {
  const image = folder + suffix;
  if (!existsSync(image)) return;
  const plain = `${folder}.files`;
  await rm(plain, { recursive: true, force: true }); // of an extraction that was killed
  await mkdir(folder, { recursive: true });
  if (!isMountPoint(folder)) {
    if (readdirSync(folder).length > 0) return; // extracted before
    await mount(image, folder);
  }
  await mkdir(plain);
  try {
    await run("cp", ["-a", "--sparse=always", "--", `${folder}/.`, plain]);
  } catch (error) {
    await rm(plain, { recursive: true, force: true }); // the room is given back: others write on this disk
    await unmount(folder);
    throw error;
  }
  await unmount(folder);
  await rmdir(folder); // fails if it is still mounted
  await rename(plain, folder);
  await rm(image);
}

/**
 * Extracts the images that a killed supervisor left in `folder` or in a folder of it. An image that cannot be
 * extracted, as on a full disk, stays: `mount -o loop` shows its files.
 */
export async function extractDiskImages(folder: string): Promise<void> {
  for (const one of foldersWithImage(folder)) await quiet(extractDiskImage(one));
}

/** Removes the same images with their files. */
export async function removeDiskImages(folder: string): Promise<void> {
  for (const one of foldersWithImage(folder)) await removeDiskImage(one);
}

function foldersWithImage(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const within = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...within.map(({ name }) => join(folder, name))].flatMap((at) =>
    readdirSync(at)
      .filter((name) => name.endsWith(suffix))
      .map((name) => join(at, name.slice(0, -suffix.length))),
  );
}

/** Room for inodes (1.6 %), the journal and the blocks that ext4 reserves (2 %, at most 16 MiB). */
function imageBytes(bytes: number): number {
  const reserved = Math.min(0.021 * bytes, 16 * mib);
  const all = 1.02 * bytes + reserved + (journalMib(bytes) + 4) * mib;
  return 4096 * Math.ceil(all / 4096);
}

function journalMib(bytes: number): number {
  return bytes < 2 ** 30 ? 4 : 64;
}

async function mount(image: string, folder: string): Promise<void> {
  const attached = (await run("losetup", ["-n", "-O", "NAME", "-j", image])).stdout.trim().split("\n")[0];
  const device = attached || (await run("losetup", ["--find", "--show", image])).stdout.trim();
  try {
    const options = "noinit_itable,discard,nosuid,nodev,noatime";
    await run("mount", ["-t", "ext4", "-o", options, device, folder]);
  } finally {
    await quiet(run("losetup", ["-d", device])); // takes effect once it is unmounted, whoever unmounts it
  }
}

async function unmount(folder: string): Promise<void> {
  for (let round = 0; round < 100 && isMountPoint(folder); round++)
    await quiet(run("umount", round < 99 ? [folder] : ["-l", folder]));
}

function isMountPoint(folder: string): boolean {
  const device = statSync(folder, { throwIfNoEntry: false })?.dev;
  return device !== undefined && device !== statSync(dirname(folder)).dev;
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split("\n").at(-1)!;
}

async function quiet(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {});
}
