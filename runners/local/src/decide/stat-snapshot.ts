// A snapshot of the stats of everything that a decision consulted. A later process compares the snapshot in a few
// milliseconds to learn whether its decision would be the same.
import { type Consulted, filesMatching, namesIn, statText } from "./consulted-files.ts";

export type StatSnapshot = {
  /** Stat by path from the repository's root, or absolute; the kind ("file", "folder") where only that was consulted. */
  stats: Record<string, string>;
  folders: Record<string, string[]>;
  patterns: Record<string, string[]>;
};

/** The runner's own sources: a newer runner may decide differently. */
const runner = "runners/*/src/**/*.ts";

/**
 * Undefined if a file could change without a change of its stat (see `fresh`), or if a program gave data: only a caller
 * that runs the programs again may keep such a snapshot (`programsToo`).
 */
export function seenBy(consulted: Consulted, { programsToo = false } = {}): StatSnapshot | undefined {
  consulted.pattern(runner);
  if (consulted.fresh || (consulted.programs.size > 0 && !programsToo)) return undefined;
  return {
    stats: Object.fromEntries(consulted.files),
    folders: Object.fromEntries(consulted.folders),
    patterns: Object.fromEntries(consulted.patterns),
  };
}

/** Whether all stats match the snapshot. A touched file differs. */
export function looksTheSame(repository: string, { stats, folders, patterns }: StatSnapshot): boolean {
  return (
    Object.entries(stats).every(([path, stat]) => statText(repository, path, stat) === stat) &&
    Object.entries(folders).every(([folder, names]) => sameList(namesIn(repository, folder), names)) &&
    Object.entries(patterns).every(([pattern, files]) => sameList(filesMatching(repository, pattern), files))
  );
}

function sameList(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
