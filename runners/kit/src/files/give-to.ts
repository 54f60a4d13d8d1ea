// Gives files to the user of a stage's walls, and back to the runner's user after the stage.
import { chmodSync, lchownSync, lstatSync, readdirSync, type Stats } from "node:fs";

/** Changes the owner of the existing `paths` and of everything in them. Links are not followed. Only for root. */
export function giveTo(paths: readonly string[], { uid, gid }: { uid: number; gid: number }): void {
  for (const { path, stats } of entriesBelow(paths.filter((path) => statsOf(Buffer.from(path))))) {
    const owned = stats.uid === uid && stats.gid === gid;
    if (!owned) lchownSync(path as unknown as string, uid, gid); // takes bytes; its type does not say so
  }
}

/**
 * Makes everything below `path` readable for every user: a runner's umask must not keep a stage of another user
 * from its inputs, or a scorer would reject a submission that it could not read. Links are not followed.
 */
export function makeReadable(path: string): void {
  for (const { path: one, stats } of entriesBelow([path])) {
    if (stats.isSymbolicLink()) continue;
    const wanted = stats.mode | (stats.isDirectory() ? 0o555 : 0o444);
    if (wanted !== stats.mode) chmodSync(one, wanted & 0o7777);
  }
}

/**
 * `paths` and everything in them. Names are bytes, for untrusted code may have chosen them. What is deeper than
 * the kernel's longest path cannot be opened by a program either, and is left out.
 */
function* entriesBelow(paths: readonly string[]): Generator<{ path: Buffer; stats: Stats }> {
  const left = paths.map((path) => Buffer.from(path));
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const stats = statsOf(path);
    if (!stats) continue;
    yield { path, stats };
    if (!stats.isDirectory()) continue;
    for (const name of readdirSync(path, { encoding: "buffer" }))
      left.push(Buffer.concat([path, Buffer.from("/"), name]));
  }
}

/** Undefined for a path that does not exist or is too long. */
function statsOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENAMETOOLONG") return undefined;
    throw error;
  }
}
