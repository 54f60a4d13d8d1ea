// `pipeline --version`: the commit of this checkout, which is what a report of a problem must name.
import { spawnSync } from "node:child_process";

/** `mlrb 85c993ff (2026-11-26), Node v26.10.0`; a copy without Git names no commit. */
export function versionText(repository: string): string {
  const git = (...words: string[]) =>
    spawnSync("git", ["-C", repository, ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const { status, stdout } = git("log", "-1", "--format=%h (%cs)");
  const changed = status === 0 && git("status", "--porcelain", "--untracked-files=no").stdout !== "";
  const commit =
    status === 0 ? `${stdout.trim()}${changed ? " with local changes" : ""}` : "of an unknown commit";
  return `mlrb ${commit}, Node ${process.version}\n`;
}
