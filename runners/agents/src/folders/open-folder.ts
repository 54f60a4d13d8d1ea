// Reads folders that an agent may be rewriting at this moment. On Linux every step goes through the open folder's
// descriptor (/proc/self/fd). So swapping a folder for a link between two steps has no effect, and deep trees make
// no path too long. Elsewhere Node has no openat: the path is followed by name, which is only as safe as the
// sandbox around it.
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, opendir } from "node:fs/promises";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

export type OpenFolder = AsyncDisposable & { handle: FileHandle; path: Buffer };

export async function openFolder(path: string | Buffer): Promise<OpenFolder> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const through =
    process.platform === "linux" ? Buffer.from(`/proc/self/fd/${handle.fd}`) : Buffer.from(path);
  return { handle, path: through, [Symbol.asyncDispose]: () => handle.close() };
}

/** Opens `inside` below `root`, one component at a time, so that no component may be a link. The caller closes it. */
export async function openInside(
  root: string,
  inside: string,
  enter = (outer: OpenFolder, part: Buffer) => openFolder(child(outer, part)),
): Promise<OpenFolder> {
  const parts = partsOf(inside);
  let folder = await openFolder(root);
  for (const part of parts) {
    await using outer = folder;
    folder = await enter(outer, Buffer.from(part));
  }
  return folder;
}

/**
 * The names that lead to `inside`: none for "" and ".". Throws for "..", which leads out of the folder without
 * being a link, and for "." and empty names in between.
 */
export function partsOf(inside: string): string[] {
  const parts = inside === "" || inside === "." ? [] : inside.split("/");
  if (parts.some(isNoName)) throw new Error(`${inside} is no path inside a folder`);
  return parts;
}

/** Whether a part of a path names no entry of its folder. */
function isNoName(part: string): boolean {
  return part === "" || part === "." || part === "..";
}

export function child(folder: OpenFolder, name: Buffer): Buffer {
  return Buffer.concat([folder.path, Buffer.from("/"), name]);
}

/**
 * The names in `folder`, at most `max`, sorted by bytes so that every walk has the same order. A listing may have
 * a name twice if a program replaces it meanwhile; here it is once.
 */
export async function names(folder: OpenFolder, max: number): Promise<{ names: Buffer[]; more: boolean }> {
  const found = new Map<string, Buffer>();
  // the types allow only text paths; "buffer" keeps names that are not UTF-8 distinct
  const listing = await opendir(folder.path as unknown as string, { encoding: "buffer" as BufferEncoding });
  for await (const entry of listing) {
    if (found.size === max) return { names: sorted(found), more: true };
    const name = entry.name as unknown as Buffer;
    found.set(name.toString("latin1"), name);
  }
  return { names: sorted(found), more: false };
}

function sorted(found: ReadonlyMap<string, Buffer>): Buffer[] {
  return [...found.values()].sort(Buffer.compare);
}

export function look(folder: OpenFolder, name: Buffer): Promise<BigIntStats> {
  return lstat(child(folder, name), { bigint: true });
}

/** Opens a regular file for reading; undefined if it is, or has become, anything else. */
export async function openRegular(path: string | Buffer): Promise<FileHandle | undefined> {
  // O_NONBLOCK: a file swapped for a pipe must not block the supervisor until a program writes to it
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}
