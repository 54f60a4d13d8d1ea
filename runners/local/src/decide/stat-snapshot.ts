// A snapshot of the stats of everything that a decision consulted. A later process compares the snapshot in a few
// milliseconds to learn whether its decision would be the same.
import { join } from "node:path";
import { hashFile } from "../digests/hash-file.ts";
import { ifReadable } from "../store/if-readable.ts";
import {
  type Consulted,
  filesMatching,
  lookAt,
  namesIn,
  runnerSources,
  type StatSnapshot,
  statText,
} from "./consulted-files.ts";

/**
 * Undefined if a file could change without a change of its stat (see `fresh`), or if a program gave data: only a
 * caller that runs the programs again may keep such a snapshot (`programsToo`).
 */
export function seenBy(consulted: Consulted, { programsToo = false } = {}): StatSnapshot | undefined {
  consulted.pattern(runnerSources); // a newer runner may decide differently; a long run lists them at its begin
  if (consulted.fresh || (consulted.programs.size > 0 && !programsToo)) return undefined;
  return {
    stats: Object.fromEntries(consulted.files),
    folders: Object.fromEntries(consulted.folders),
    patterns: Object.fromEntries(consulted.patterns),
  };
}

/** Whether all stats match the snapshot. A touched file differs. */
export function looksTheSame(repository: string, snapshot: StatSnapshot): boolean {
  const { stats } = snapshot;
  return (
    Object.entries(stats).every(([path, stat]) => statText(repository, path, stat) === stat) &&
    listsTheSame(repository, snapshot)
  );
}

/**
 * Whether everything is the same but the times and inodes of files whose content is (`digests`: sha256 by path
 * from the root). Returns the stats that differ, by path; undefined if anything else changed.
 */
export function touchedOnly(
  repository: string,
  { digests, ...snapshot }: StatSnapshot & { digests: Record<string, string> },
): { stats: Record<string, string>; fresh: boolean } | undefined {
  const touched = { stats: {} as Record<string, string>, fresh: false };
  for (const [path, stat] of Object.entries(snapshot.stats)) {
    if (statText(repository, path, stat) === stat) continue;
    const digest = digests[path];
    const look = digest === undefined ? undefined : lookAt(repository, path);
    if (!look || sizeAndMode(look.stat) !== sizeAndMode(stat)) return undefined;
    if (ifReadable(() => hashFile(join(repository, path))) !== digest) return undefined;
    touched.stats[path] = look.stat;
    if (look.fresh) touched.fresh = true;
  }
  return listsTheSame(repository, snapshot) ? touched : undefined;
}

/** Of a stat's text, what a touch leaves as it is. */
function sizeAndMode(stat: string): string {
  const [size, , , mode] = stat.split(" ");
  return `${size} ${mode}`;
}

function listsTheSame(repository: string, { folders, patterns }: Omit<StatSnapshot, "stats">): boolean {
  return (
    Object.entries(folders).every(([folder, names]) => sameList(namesIn(repository, folder), names)) &&
    Object.entries(patterns).every(([pattern, files]) => sameList(filesMatching(repository, pattern), files))
  );
}

function sameList(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
