// Gives files to the user of a stage's walls, and back to the runner's user after the stage.
import { chmodSync, lchownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Changes the owner of the existing `paths` and of everything in them. Links are not followed. Only for root. */
export function giveTo(paths: readonly string[], { uid, gid }: { uid: number; gid: number }): void {
  const left = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }));
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    lchownSync(path, uid, gid);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) left.push(join(path, name));
  }
}

/**
 * Makes everything below `path` readable for every user: a runner's umask must not keep a stage of another user from
 * its inputs, or a scorer would reject a submission that it could not read. Links are not followed.
 */
export function makeReadable(path: string): void {
  const left = [path];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const stats = lstatSync(one);
    if (stats.isSymbolicLink()) continue;
    const wanted = stats.mode | (stats.isDirectory() ? 0o555 : 0o444);
    if (wanted !== stats.mode) chmodSync(one, wanted & 0o7777);
    if (stats.isDirectory()) for (const name of readdirSync(one)) left.push(join(one, name));
  }
}
