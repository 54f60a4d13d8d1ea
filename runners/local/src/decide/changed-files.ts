// Lists the repository's files that differ from a stat snapshot, for display and for `watch`. An edit during a run
// also counts: the stat of a file is noted before the file is read.
import { filesMatching, namesIn, type StatSnapshot, statText } from "./consulted-files.ts";

export type Change = { path: string; how: "changed" | "added" | "removed" };

/** Each path once, in code-unit order. */
export function changedSince(repository: string, { stats, folders, patterns }: StatSnapshot): Change[] {
  const changes = new Map<string, Change>();
  const note = (path: string, how: Change["how"]) => changes.set(path, changes.get(path) ?? { path, how });
  for (const [path, then] of Object.entries(stats)) {
    const now = statText(repository, path, then);
    if (now !== then) note(path, then === "missing" ? "added" : now === "missing" ? "removed" : "changed");
  }
  const compare = (then: string[], now: string[]) => {
    const names = (paths: string[]) => new Set(paths.map((path) => path.replace(/\/$|\0.*$/s, "")));
    for (const path of now.filter((one) => one.includes("\0") && !then.includes(one)))
      note(path.replace(/\0.*$/s, ""), "changed");
    const [before, after] = [names(then), names(now)];
    for (const path of after) if (!before.has(path)) note(path, "added");
    for (const path of before) if (!after.has(path)) note(path, "removed");
  };
  for (const [folder, then] of Object.entries(folders)) {
    const inside = (names: string[]) => names.map((name) => `${folder}/${name}`);
    compare(inside(then), inside(namesIn(repository, folder)));
  }
  for (const [pattern, then] of Object.entries(patterns)) compare(then, filesMatching(repository, pattern));
  return [...changes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Takes a new snapshot of the same files, folders and patterns. */
export function seenNow(repository: string, { stats, folders, patterns }: StatSnapshot): StatSnapshot {
  const each = <T>(of: Record<string, T>, look: (name: string) => T) =>
    Object.fromEntries(Object.keys(of).map((name) => [name, look(name)]));
  return {
    stats: each(stats, (path) => statText(repository, path, stats[path])),
    folders: each(folders, (folder) => namesIn(repository, folder)),
    patterns: each(patterns, (pattern) => filesMatching(repository, pattern)),
  };
}
