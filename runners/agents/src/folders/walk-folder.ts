// Walks a hostile folder within limits. Links are never followed. Entries that are not plain files with plain
// names are listed as left out.
import type { BigIntStats } from "node:fs";
import type { CopiedTree, SnapshotLimits } from "@mlrb/core/ports/sandbox";
import { child, look, names, type OpenFolder, openFolder, openInside } from "./open-folder.ts";

const depthMax = 64;
const leftOutMax = 200;
const shownMax = 200;

/** `over`: set, in words, if a limit stopped the walk. */
type Walk = Pick<CopiedTree, "leftOut" | "leftOutMore"> & { over?: string };

export type Visit = (file: { path: string; at: Buffer; stats: BigIntStats }) => Promise<string | undefined>;

/**
 * Calls `visit`, which may return why a file is left out, for each plain file of the folder `inside` below a
 * trusted root, in a fixed order. Every component in between may be hostile. Stops at the first limit. Throws only
 * on trouble that the agent did not cause.
 */
export async function walkFolder(
  { root, inside }: { root: string; inside: string },
  limits: SnapshotLimits,
  visit: Visit,
  { without = [], partial = false }: Partial<Pick<Walking, "without" | "partial">> = {},
): Promise<Walk> {
  const walk: Walk = { leftOut: [], leftOutMore: 0 };
  const walking: Walking = { walk, limits, visit, without, partial, entries: 0, bytes: 0n };
  try {
    await using folder = await openInside(root, inside);
    await enter(walking, folder, { prefix: "", depth: 1 });
  } catch (error) {
    leaveOut(walk, ".", agentsDoing(error)); // the agent may have removed or replaced the folder itself: then it is empty
  }
  return walk;
}

type Walking = {
  walk: Walk;
  limits: SnapshotLimits;
  visit: Visit;
  /** Paths that are passed over. */
  without: readonly string[];
  /** Entries within the limit on files are visited where there are more; otherwise none of that folder. */
  partial: boolean;
  entries: number;
  bytes: bigint;
};

async function enter(
  walking: Walking,
  folder: OpenFolder,
  { prefix, depth }: { prefix: string; depth: number },
): Promise<void> {
  const { walk } = walking;
  const { filesMax } = walking.limits;
  const listed = await names(folder, filesMax - walking.entries);
  if (listed.more) walk.over = `more than ${filesMax} files and folders`;
  walking.entries += listed.names.length;
  for (const name of listed.names) {
    if (walk.over && !walking.partial) return;
    const text = plainName(name);
    const path = prefix + (text ?? shown(name));
    if (walking.without.includes(path)) continue;
    const why = text === undefined ? "odd name" : await takeEntry(walking, folder, { name, path, depth });
    if (why) leaveOut(walk, path, why);
  }
}

/** Why the entry is left out; undefined if it is taken. */
async function takeEntry(
  walking: Walking,
  folder: OpenFolder,
  { name, path, depth }: { name: Buffer; path: string; depth: number },
): Promise<string | undefined> {
  try {
    const stats = await look(folder, name);
    if (stats.isDirectory()) {
      if (depth === depthMax) return `deeper than ${depthMax} folders`;
      await using inner = await openFolder(child(folder, name));
      await enter(walking, inner, { prefix: `${path}/`, depth: depth + 1 });
      return undefined;
    }
    if (!stats.isFile()) return kindOf(stats);
    const { bytesMax } = walking.limits;
    walking.bytes += stats.size;
    if (walking.bytes > BigInt(bytesMax)) {
      walking.walk.over = `more than ${bytesMax} bytes`;
      return undefined;
    }
    return await walking.visit({ path, at: child(folder, name), stats });
  } catch (error) {
    return agentsDoing(error);
  }
}

function leaveOut(walk: Walk, path: string, why: string): void {
  if (walk.leftOut.length < leftOutMax) walk.leftOut.push({ path, why });
  else walk.leftOutMore++;
}

/**
 * The meaning of an error on the agent's own entries. Throws other errors: a full table of descriptors, a broken
 * disk.
 */
export function agentsDoing(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return "gone while it was read";
    case "EACCES":
    case "EPERM":
      return "unreadable: permission denied";
    case "ELOOP":
      return "symbolic link";
    case "ENOTDIR":
      return "not a folder";
    case "ENXIO":
    case "ENODEV":
      return "device or socket";
    case "ENAMETOOLONG":
      return "path too long";
    default:
      throw error;
  }
}

function kindOf(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return "symbolic link";
  if (stats.isFIFO()) return "named pipe";
  if (stats.isSocket()) return "socket";
  return "device";
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The name as text; undefined if a later reader would fail on it: no UTF-8, control characters, backslashes. */
function plainName(name: Buffer): string | undefined {
  try {
    const text = utf8.decode(name);
    return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** An odd name made readable: everything beyond printable ASCII as %XX. */
function shown(name: Buffer): string {
  let text = "";
  for (const byte of name.subarray(0, shownMax))
    text +=
      byte > 32 && byte < 127 && byte !== 37
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, "0")}`;
  return text;
}
