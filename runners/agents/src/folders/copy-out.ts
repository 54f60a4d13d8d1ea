// Copies a folder out of a sandbox. A first walk decides whether it changed and fits. The copy checks the limits
// again, since an agent may write between the two. An entry that cannot be read is listed, because the agent
// caused that. A copy that cannot be written throws.
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CopiedTree, SnapshotRequest, SnapshotResult } from "@mlrb/core/ports/sandbox";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { type Copy, linkSame } from "./link-same.ts";
import { openRegular } from "./open-folder.ts";
import { agentsDoing, walkFolder } from "./walk-folder.ts";

/**
 * Copies `request.inside` below `root` to `request.to`. `state` distinguishes two walks by size, inode and times,
 * without reading content.
 */
export async function copyOut(root: string, request: SnapshotRequest): Promise<SnapshotResult> {
  const { limits, to } = request;
  const from = { root, inside: request.inside };
  const seen = createHash("sha256");
  const look = await walkFolder(from, limits, async ({ path, stats }) => {
    seen.update(`${path}\0${stats.size} ${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs}\0`);
    return undefined;
  });
  for (const entry of look.leftOut) seen.update(`${entry.path}\0${entry.why}\0`);
  seen.update(look.over ?? "");
  const state = seen.digest("hex");
  if (state === request.unless) return { kind: "unchanged" };
  if (look.over) return { kind: "over-limits", state, detail: look.over };

  await mkdir(to, { recursive: true });
  const files: CopiedTree["files"] = [];
  const torn: string[] = [];
  let room = limits.bytesMax;
  const earlier = new Map(request.earlier?.files.map((file) => [file.path, file]));
  const walk = await walkFolder(from, limits, async ({ path, at }) => {
    const known = earlier.get(path);
    const before = known && { ...known, at: join(request.earlier!.folder, path) };
    const copied = await copyFile(at, join(to, path), { room, before });
    if (typeof copied === "string") return copied;
    room -= copied.bytes;
    files.push({ path, bytes: copied.bytes, digest: copied.digest });
    if (copied.torn) torn.push(path);
    return undefined;
  });
  if (walk.over) {
    await rm(to, { recursive: true, force: true });
    return { kind: "over-limits", state, detail: walk.over };
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const { leftOut, leftOutMore } = walk;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    kind: "taken",
    state,
    tree: { files, bytes, digest: treeDigest(files), leftOut, leftOutMore, torn },
  };
}

export function treeDigest(files: CopiedTree["files"]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file.path}\0${file.bytes}\0${file.digest}\n`);
  return hash.digest("hex");
}

export type Copied = { bytes: number; digest: string; torn: boolean };

/** A text says why the file is left out. */
export async function copyFile(
  from: Buffer,
  to: string,
  { room, before }: { room: number; before: Copy | undefined },
): Promise<Copied | string> {
  let opened: FileHandle | undefined;
  try {
    opened = await openRegular(from);
  } catch (error) {
    return agentsDoing(error);
  }
  await using source = opened;
  if (!source) return "no longer a plain file";
  if (before && before.bytes <= room) {
    const same = await linkSame(source, to, before);
    if (same) return { bytes: before.bytes, digest: before.digest, ...same };
  }
  await using target = await create(to);
  if (!target) return "path too long, or the same as another on this file system";
  return await pour(source, target, room);
}

/** Errors of the copy's own side lose their code here, so that they are not blamed on the agent. */
async function create(to: string): Promise<FileHandle | undefined> {
  try {
    await mkdir(dirname(to), { recursive: true });
    return await open(to, "wx", 0o644);
  } catch (error) {
    if (["ENAMETOOLONG", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw copyFailed(error);
  }
}

const chunk = 1 << 20;

async function pour(source: FileHandle, target: FileHandle, room: number): Promise<Copied> {
  const before = await source.stat({ bigint: true });
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Number(before.size < BigInt(chunk) ? before.size + 1n : BigInt(chunk)));
  let bytes = 0;
  // a file that grows as fast as it is read ends at the remaining room
  while (bytes < room) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, room - bytes));
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    await writeAll(target, buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  const after = await source.stat({ bigint: true });
  const torn =
    after.size !== before.size || after.mtimeNs !== before.mtimeNs || BigInt(bytes) !== before.size;
  return { bytes, digest: hash.digest("hex"), torn };
}

async function writeAll(target: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    await target.writeFile(bytes);
  } catch (error) {
    throw copyFailed(error);
  }
}

function copyFailed(error: unknown): Error {
  const help = isFullDisk(error) ? "; free some disk space and run again" : "";
  return new Error(`cannot keep a copy of the submission: ${(error as Error).message}${help}`, {
    cause: error,
  });
}
