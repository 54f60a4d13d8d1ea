// A mount follows links. Programs of an agent may put a link where the harness put a folder, so a path of a
// sandbox is mounted only after this check. Call it while nothing runs inside.
import { lstatSync } from "node:fs";
import { join } from "node:path";

/** Those of `paths`, from `root`, that are folders or plain files, and of which no part is a link. */
export function withoutLinks(root: string, paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const parts = path.split("/");
    const statsOf = (count: number) =>
      lstatSync(join(root, ...parts.slice(0, count)), { throwIfNoEntry: false });
    for (let count = 1; count < parts.length; count++) if (!statsOf(count)?.isDirectory()) return false;
    const last = statsOf(parts.length);
    return last !== undefined && (last.isDirectory() || last.isFile());
  });
}
