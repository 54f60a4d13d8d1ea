// The channel between `pipeline watch` and the run that it started, by Node's messages between parent and child:
// the run reports the files that it consulted, and the watcher ends the run.
import type { Consulted, StatSnapshot } from "@mlrb/local/decide/consulted-files";

/** `whole`: all files that the plan depends on, not only those consulted before a problem was found. */
export type WatchedFiles = StatSnapshot & { whole: boolean };

/** The watcher's message for a Ctrl-C. */
export const interruptMessage = "interrupt";

/** The watcher's message for any other signal. */
export const leaveMessage = "leave";

/** Set for every run of a watcher after the first: a confirmation holds for the first run only. */
export const againVariable = "MLRB_WATCHED_AGAIN";

export function isWatchedAgain(): boolean {
  return isWatched() && process.env[againVariable] === "1";
}

export function isWatched(): boolean {
  return process.connected === true;
}

/** Resolves once the message is sent. No-op without a watcher. */
export function tellWatcher(consulted: Consulted, whole: boolean): Promise<void> {
  if (isWatched()) consulted.statKinds();
  const { files, folders, patterns } = consulted;
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
