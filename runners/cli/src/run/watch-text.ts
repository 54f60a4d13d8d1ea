// The lines that `pipeline watch` prints between runs.
// Pure: no disk, no clock.
import type { Change } from "@mlrb/local/decide/changed-files";
import type { StatSnapshot } from "@mlrb/local/decide/stat-snapshot";
import { oneLine } from "../show/one-line.ts";

const shownMax = 5;

/** `watch: tasks/x/task.yaml changed`, one line for each of the first changes. */
export function changeLines(changes: Change[]): string {
  const lines = changes.slice(0, shownMax).map(({ path, how }) => `watch: ${oneLine(path)} ${how}`);
  if (changes.length > shownMax) lines.push(`watch: … and ${changes.length - shownMax} more`);
  return `\n${lines.join("\n")}\n`;
}

export function waitLine({ stats }: StatSnapshot): string {
  const count = Object.values(stats).filter((stat) => stat !== "missing").length;
  return `watch: waiting for an edit of ${count === 1 ? "a file" : `${count} files`}; Ctrl-C stops\n`;
}
