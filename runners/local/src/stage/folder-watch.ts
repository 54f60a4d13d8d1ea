// Finds names that appeared or disappeared in the folders of a stage's patterns during its run. A file that was
// added and removed leaves no trace in the lists before and after, and the stage may have read the file. The
// kernel reports the names, so files of editors and interpreters do not count. Where it reports none (no watch
// left, a disk of another host), the stat of the folder still shows a change.
import { join, matchesGlob } from "node:path";
import { foldersOfPattern, isLeftBehind, statText } from "../decide/consulted-files.ts";
import { watchWrites } from "./write-watch.ts";

/**
 * A path that appeared or disappeared since the watch began. Where the name is unknown: the folder, with a slash
 * at its end.
 */
export type CameOrWent = () => Promise<string | undefined>;

/** `patterns` as filesMatching takes them. */
export async function watchFolders(
  root: string,
  patterns: readonly string[],
  watching = watchWrites,
): Promise<CameOrWent> {
  const watched = patterns.flatMap((pattern) => foldersOfPattern(root, pattern));
  const eventsSince = await watching([...new Set(watched.map(({ folder }) => join(root, folder)))]);
  const stats = new Map(watched.map(({ folder }) => [folder, statText(root, folder)]));
  return async () => {
    for (const { folder, names } of watched) {
      const events = await eventsSince(join(root, folder));
      if (events ? events.includes("") : statText(root, folder) !== stats.get(folder)) return `${folder}/`;
      const counts = (name: string) => !isLeftBehind(name) && (!names || matchesGlob(name, names));
      const name = events?.find(counts);
      if (name !== undefined) return folder === "." ? name : `${folder}/${name}`;
    }
    return undefined;
  };
}
