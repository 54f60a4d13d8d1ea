// Copies a trusted file or folder of the host into a folder that a hostile program may be rewriting at this
// moment. No path through that folder is ever opened. Each component is opened from the one before, never through
// a link, and new entries are created under the opened folder. So no swap changes a byte, owner or mode outside
// the sandbox.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  symlink,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { handedOver, isExecutable, isLeftBehind } from "@mlrb/kit/attempts/handed-over";
import type { SandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { child, type OpenFolder, openFolder, openInside } from "./open-folder.ts";

export type PutSettings = {
  /** The new owner; undefined keeps this process's user. */
  owner?: SandboxUser | undefined;
  /** Programs inside may not write it. */
  readOnly?: boolean;
  /** It may be moved if possible. */
  move?: boolean;
  /** A new file appears with all of its bytes. */
  whole?: boolean;
};

const isLinux = process.platform === "linux";
const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** Throws on failure. If a component of `inside` is not a folder, the error names it. */
export async function putInside(root: string, from: string, inside: string, how: PutSettings): Promise<void> {
  await using folder = await makeFolders(root, dirname(inside), how.readOnly ? { owner: how.owner } : how);
  const name = Buffer.from(basename(inside));
  if (how.move && (await moved(from, folder, name, how))) return;
  await copy(from, folder, name, how);
}

/** Opens `inside`, making missing folders. The caller closes it. */
export function makeFolders(root: string, inside: string, how: PutSettings): Promise<OpenFolder> {
  return openInside(root, inside, (outer, part) =>
    makeFolder(outer, part, how).catch((cause: NodeJS.ErrnoException) => {
      const why = `${part} in ${inside} is no folder (${cause.code})`;
      throw new Error(`${why}: a program inside may have replaced it`, { cause });
    }),
  );
}

/** Opens the folder of that name: the existing one, or a new one that belongs to the owner. */
async function makeFolder(outer: OpenFolder, name: Buffer, { owner }: PutSettings): Promise<OpenFolder> {
  const at = child(outer, name);
  const isNew = await mkdir(at, 0o700).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
  const folder = await openFolder(at);
  // only a folder made here: an existing one may belong to any user
  if (isNew && (await folder.handle.stat()).uid === process.getuid?.()) {
    if (owner) await folder.handle.chown(owner.uid, owner.gid);
    await folder.handle.chmod(0o755);
  }
  return folder;
}

async function copy(from: string, folder: OpenFolder, name: Buffer, how: PutSettings): Promise<void> {
  const source = await stat(from); // the input is trusted, so a link to it is followed
  if (source.isDirectory()) return await copyFolder(from, folder, name, how);
  if (!source.isFile())
    throw new Error(`${from} is neither a file nor a folder; only these can be given to an agent`);
  await copyFileIn(from, folder, name, { ...how, executable: isExecutable(source.mode) });
}

/** Copies the entries that `handedOver` lists, which are those that the attempt's key covers. */
async function copyFolder(from: string, folder: OpenFolder, name: Buffer, how: PutSettings): Promise<void> {
  const entries = handedOver(from);
  const make = async (outer: OpenFolder, one: Buffer) => {
    await removeOther(outer, one, "folder");
    return await makeFolder(outer, one, how.readOnly ? {} : how);
  };
  const within: { path: string; folder: OpenFolder }[] = [];
  const leave = async (one: { folder: OpenFolder }) => {
    await using left = one.folder;
    if (how.readOnly) await left.handle.chmod(0o555);
  };
  try {
    within.push({ path: "", folder: await make(folder, name) });
    for (const entry of entries) {
      const parent = entry.path.split("/").slice(0, -1).join("/");
      while (within.at(-1)!.path !== parent) await leave(within.pop()!);
      const outer = within.at(-1)!.folder;
      const own = Buffer.from(basename(entry.path));
      if (entry.kind === "folder") within.push({ path: entry.path, folder: await make(outer, own) });
      else if (entry.kind === "link") {
        await removeOther(outer, own, "file");
        await symlink(entry.target, child(outer, own));
        if (how.owner && !how.readOnly) await lchown(child(outer, own), how.owner.uid, how.owner.gid);
      } else await copyFileIn(join(from, entry.path), outer, own, { ...how, executable: entry.executable });
    }
    while (within.length > 0) await leave(within.pop()!);
  } finally {
    for (const { folder: left } of within) await left.handle.close();
  }
}

async function copyFileIn(
  from: string,
  folder: OpenFolder,
  name: Buffer,
  how: PutSettings & { executable: boolean },
): Promise<void> {
  const there = (await otherThan(folder, name, "file")) || how.whole;
  // a program that reads the replaced file gets either all of the old one or all of the new one
  const written = there ? Buffer.from(`.mlrb-${randomBytes(8).toString("hex")}`) : name;
  const at = child(folder, written);
  await using write = await open(at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    // through the descriptor: the name may lead elsewhere by now
    await copyFile(from, isLinux ? `/proc/self/fd/${write.fd}` : at, constants.COPYFILE_FICLONE);
    if (how.owner && !how.readOnly) await write.chown(how.owner.uid, how.owner.gid);
    await write.chmod(modeOf(how.executable, how));
    if (there) await rename(at, child(folder, name));
  } catch (error) {
    if (there) await unlink(at).catch(() => {});
    throw error;
  }
}

function modeOf(executable: boolean, { readOnly }: PutSettings): number {
  return (readOnly ? 0o444 : 0o644) | (executable ? 0o111 : 0);
}

/** Makes room for a new entry. Only a folder stays, if a folder is coming. */
async function removeOther(folder: OpenFolder, name: Buffer, coming: "file" | "folder"): Promise<void> {
  if (await otherThan(folder, name, coming)) await unlink(child(folder, name));
}

/** Whether an existing entry must be replaced. A folder stays if a folder is coming. */
async function otherThan(folder: OpenFolder, name: Buffer, coming: "file" | "folder"): Promise<boolean> {
  const there = await lstat(child(folder, name)).catch(() => undefined);
  if (there?.isDirectory() && coming === "file")
    throw new Error(`${name} is a folder; a file cannot take its place`);
  return there !== undefined && !there.isDirectory();
}

/**
 * False if it must be copied instead: another file system, one without write access, or a file with other hard
 * links.
 */
async function moved(from: string, folder: OpenFolder, name: Buffer, how: PutSettings): Promise<boolean> {
  if (await lstat(child(folder, name)).catch(() => undefined)) return false;
  if (!(await isPlain(from))) return false;
  await prepare(from, how); // before programs inside can reach it
  const isFolder = (await lstat(from)).isDirectory();
  if (isFolder) await chmod(from, 0o755);
  try {
    await rename(from, child(folder, name));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["EXDEV", "EROFS", "EACCES", "EPERM", "EBUSY"].includes(code)) return false;
    throw error;
  }
  // a read-only folder could not have been moved
  if (how.readOnly && isFolder) {
    await using there = await openFolder(child(folder, name));
    if ((await there.handle.stat()).uid === process.getuid?.()) await there.handle.chmod(0o555);
  }
  return true;
}

/**
 * Whether it can be moved as it is: no file with other hard links, through which an agent's writes would be
 * visible.
 */
async function isPlain(path: string): Promise<boolean> {
  const stats = await lstat(path);
  if (stats.isFile()) return stats.nlink === 1;
  if (!stats.isDirectory()) return false;
  for (const name of await readdir(path))
    if (isLeftBehind(name) || !(await isPlain(join(path, name)))) return false;
  return true;
}

async function prepare(path: string, how: PutSettings): Promise<void> {
  const stats = await lstat(path);
  if (stats.isDirectory()) for (const name of await readdir(path)) await prepare(join(path, name), how);
  if (how.owner && !how.readOnly) await lchown(path, how.owner.uid, how.owner.gid);
  await chmod(
    path,
    stats.isDirectory() ? (how.readOnly ? 0o555 : 0o755) : modeOf(isExecutable(stats.mode), how),
  );
}
