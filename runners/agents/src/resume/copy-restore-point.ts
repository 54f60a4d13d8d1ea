// Copies the files of a sandbox into an attempt's restore points, and back into a new sandbox. Programs may write
// meanwhile. A file that did not change since the restore point before is not read: its content is shared. So is
// that of the names of one file, which are hard links again after a restore. Holes stay holes, and on a file
// system with reflinks a copy takes no room.
import { type BigIntStats, constants } from "node:fs";
import { copyFile, lchown, link, open, readlink, statfs, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CopiedFiles, RestorePointCopy } from "@mlrb/core/ports/sandbox";
import type { RestorePoint, RestorePointEntry } from "@mlrb/formats/attempt/restore-point";
import type { SandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { type ExecaError, execa } from "execa";
import {
  child,
  look,
  names,
  type OpenFolder,
  openFolder,
  openInside,
  openRegular,
  partsOf,
} from "../folders/open-folder.ts";
import { makeFolders } from "../folders/put-inside.ts";
import { agentsDoing } from "../folders/walk-folder.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** More entries, or more bytes than half of the free room, make no restore point. */
const entriesMax = 500_000;
const depthMax = 64;
/** A file of endless holes on a file system that does not say where they are. */
const copyMostMs = 30 * 60_000;
/** A copy by a program keeps holes, which matters for large files only. */
const largeBytes = 1n << 20n;

/** A text says why nothing was copied. Throws on trouble that the agent did not cause. */
export async function copyToRestorePoint(
  root: string,
  asked: RestorePointCopy,
): Promise<CopiedFiles | string> {
  const found: RestorePointEntry[] = [];
  const counted = new Set<string>();
  let newBytes = 0n;
  const known = new Map(
    asked.before.flatMap(({ identity, content }) =>
      identity !== undefined && content !== undefined ? [[identity, content] as const] : [],
    ),
  );
  for (const folder of asked.folders) {
    await using top = await openInside(root, folder);
    await walk(top, folder, 1, async (path, stats, target) => {
      asked.signal.throwIfAborted();
      if (asked.without.includes(path)) return false;
      const entry = entryOf(path, stats, target);
      const { identity } = entry ?? {};
      if (identity !== undefined && !known.has(identity) && !counted.has(identity)) {
        counted.add(identity);
        newBytes += stats.blocks * 512n;
      }
      if (entry) found.push(entry);
      return found.length < entriesMax;
    });
  }
  if (found.length >= entriesMax) return `more than ${entriesMax} files and folders`;
  const { bavail, bsize } = await statfs(asked.contents);
  if (newBytes > (BigInt(bavail) * BigInt(bsize)) / 2n) return "no room on the disk";
  return copyFiles(root, found, known, asked);
}

async function copyFiles(
  root: string,
  found: RestorePointEntry[],
  known: Map<string, string>,
  { contents, newContent, signal }: RestorePointCopy,
): Promise<CopiedFiles> {
  const entries: RestorePointEntry[] = [];
  let [copiedBytes, torn] = [0, 0];
  for (const entry of found) {
    signal.throwIfAborted();
    if (entry.kind !== "file") {
      entries.push(entry);
      continue;
    }
    const same = known.get(entry.identity!);
    const content = same ?? newContent();
    const copied = same ? "whole" : await copyOne(root, entry, join(contents, content), signal);
    if (copied === "gone") continue;
    if (!same) copiedBytes += entry.bytes ?? 0;
    if (copied === "torn") torn++;
    else known.set(entry.identity!, content);
    entries.push({ ...entry, content });
  }
  return { entries, copiedBytes, torn };
}

type Take = (path: string, stats: BigIntStats, target: string | undefined) => Promise<boolean>;

async function walk(folder: OpenFolder, prefix: string, depth: number, take: Take): Promise<void> {
  const listed = await names(folder, entriesMax);
  for (const name of listed.names) {
    const path = `${prefix}/${name.toString("utf8")}`;
    if (!name.equals(Buffer.from(name.toString("utf8")))) continue; // no text: no reader of ours could name it
    try {
      const stats = await look(folder, name);
      const target = stats.isSymbolicLink() ? await readlink(child(folder, name), "utf8") : undefined;
      if (!(await take(path, stats, target)) || !stats.isDirectory() || depth === depthMax) continue;
      await using inner = await openFolder(child(folder, name));
      await walk(inner, path, depth + 1, take);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EINVAL") agentsDoing(error); // EINVAL: no link any more
    }
  }
}

function entryOf(
  path: string,
  stats: BigIntStats,
  target: string | undefined,
): RestorePointEntry | undefined {
  const common = { path, mode: Number(stats.mode) & 0o777, mtimeMs: Math.max(0, Number(stats.mtimeMs)) };
  if (target !== undefined) return { ...common, kind: "link", target };
  if (stats.isDirectory()) return { ...common, kind: "folder" };
  if (!stats.isFile()) return undefined;
  return { ...common, kind: "file", bytes: Number(stats.size), identity: identityOf(stats) };
}

function identityOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

async function copyOne(
  root: string,
  { path, identity }: RestorePointEntry,
  to: string,
  signal: AbortSignal,
): Promise<"whole" | "torn" | "gone"> {
  try {
    await using folder = await openInside(root, dirname(path));
    await using source = await openRegular(child(folder, nameOf(path)));
    if (!source) return "gone";
    const before = await source.stat({ bigint: true });
    if (before.size < largeBytes) {
      await using target = await open(to, "wx", 0o600);
      await target.writeFile(await source.readFile());
    } else {
      // by this process's descriptor: the name may lead elsewhere by now
      const from = `/proc/${process.pid}/fd/${source.fd}`;
      await copyByProgram(from, to, { cancelSignal: signal, timeout: copyMostMs });
    }
    return identityOf(await source.stat({ bigint: true })) === identity ? "whole" : "torn";
  } catch (error) {
    agentsDoing(error);
    return "gone";
  }
}

async function copyByProgram(
  from: string,
  to: string,
  limits: { cancelSignal?: AbortSignal; timeout?: number } = {},
): Promise<void> {
  const how = ["--reflink=auto", "--sparse=auto", "--no-preserve=all"];
  try {
    await execa("cp", [...how, "--", from, to], { ...limits, env: { LC_ALL: "C" } });
  } catch (error) {
    const full = /: (No space left on device|Disk quota exceeded)$/m.test(
      (error as ExecaError<object>).stderr,
    );
    throw full ? Object.assign(error as Error, { code: "ENOSPC" }) : error;
  }
}

/** Into a sandbox in which nothing runs yet. No link of the agent is followed. On the disk when it resolves. */
export async function putRestorePointBack(
  root: string,
  contents: string,
  { entries }: RestorePoint,
  owner: SandboxUser | undefined,
): Promise<void> {
  const folders = entries.filter(({ kind }) => kind === "folder");
  for (const { path } of folders) await (await makeFolders(root, path, { owner })).handle.close();
  /** The path of each content that is restored. */
  const restored = new Map<string, string>();
  for (const entry of entries)
    if (entry.kind !== "folder")
      await restoreOne({ root, contents, owner, restored }, entry).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error; // listed twice
      });
  // last, and the inner ones first: the agent may have given a folder that it may not write itself
  for (const { path, mode } of folders.reverse()) {
    await using folder = await openInside(root, path);
    await folder.handle.chmod(mode | 0o400);
  }
  await execa("sync", ["--file-system", root], { reject: false });
}

type Restoring = {
  root: string;
  contents: string;
  owner: SandboxUser | undefined;
  restored: Map<string, string>;
};

async function restoreOne(
  { root, contents, owner, restored }: Restoring,
  { kind, path, mode, mtimeMs, target = "", content = "", bytes = 0 }: RestorePointEntry,
): Promise<void> {
  await using folder = await makeFolders(root, dirname(path), { owner });
  const to = child(folder, nameOf(path));
  if (kind === "link") {
    await symlink(target, to);
    if (owner) await lchown(to, owner.uid, owner.gid);
    return;
  }
  const same = restored.get(content);
  if (same !== undefined && (await isLinked(root, same, to))) return;
  await using file = await open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  const through = process.platform === "linux" ? `/proc/${process.pid}/fd/${file.fd}` : to.toString();
  const from = join(contents, content);
  if (bytes < Number(largeBytes)) await copyFile(from, through, constants.COPYFILE_FICLONE);
  else await copyByProgram(from, through);
  if (owner) await file.chown(owner.uid, owner.gid);
  await file.chmod(mode | 0o400);
  if (mtimeMs !== undefined) await file.utimes(mtimeMs / 1000, mtimeMs / 1000);
  restored.set(content, path);
}

/** False where the file system takes no further link to the file: then it is copied. */
async function isLinked(root: string, path: string, to: Buffer): Promise<boolean> {
  await using folder = await openInside(root, dirname(path));
  try {
    await link(child(folder, nameOf(path)), to);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["EMLINK", "EPERM", "EXDEV", "ENOTSUP"].includes(code)) return false;
    throw error;
  }
}

function nameOf(path: string): Buffer {
  return Buffer.from(partsOf(path).at(-1)!);
}
