// The side of a run that `pipeline watch` has started: it tells the watcher, over Node's channel between
// parent and child, what it looked at in the repository, and is ended through it.
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import type { StatSnapshot } from "@mlrb/local/decide/stat-snapshot";

/** `whole`: everything that the plan depends on, not only what was looked at before a problem was found. */
export type WatchedFiles = StatSnapshot & { whole: boolean };

/** What the watcher says to end a run. */
export const interruptMessage = "interrupt";

/** The same for another reason than a person at the keyboard. */
export const leaveMessage = "leave";

/** Set for every run of a watcher but its first: what was agreed to at its start is not agreed to again. */
export const againVariable = "MLRB_WATCHED_AGAIN";

export function isWatchedAgain(): boolean {
  return isWatched() && process.env[againVariable] === "1";
}

export function isWatched(): boolean {
  return process.connected === true;
}

/** Settles when it is on its way. Nothing happens where nobody watches. */
export function tellWatcher({ files, folders, patterns }: Consulted, whole: boolean): Promise<void> {
  const looked: WatchedFiles = {
    stats: Object.fromEntries(files),
    folders: Object.fromEntries(folders),
    patterns: Object.fromEntries(patterns),
    whole,
  };
  return new Promise((resolve) => {
    if (isWatched()) process.send!(looked, undefined, undefined, () => resolve());
    else resolve();
  });
}
