// Gives files to the user of a stage's walls, and back to the runner's user after the stage.
import { lchownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Changes the owner of the existing `paths` and of everything in them. Links are not followed. Only for root. */
export function giveTo(paths: readonly string[], { uid, gid }: { uid: number; gid: number }): void {
  const left = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }));
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    lchownSync(path, uid, gid);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) left.push(join(path, name));
  }
}
