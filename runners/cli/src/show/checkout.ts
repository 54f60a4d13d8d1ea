// What Git says of this checkout: for results, and for `pipeline --version`, which a report of a problem must
// name.
import { spawnSync } from "node:child_process";

/** Undefined without Git, or outside of a repository. */
function git(...words: string[]): string | undefined {
  const asked = ["-C", import.meta.dirname, ...words];
  const said = spawnSync("git", asked, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return said.status === 0 ? said.stdout.trim() : undefined;
}

/** The commit of this checkout; null if it is not known. */
export function commitOfProgram(): string | null {
  const found = git("rev-parse", "--verify", "HEAD") ?? "";
  return /^[0-9a-f]{40,64}$/.test(found) ? found : null;
}

/** `mlrb 85c993ff (2026-11-26), Node v26.10.0`; a copy without Git names no commit. */
export function versionText(): string {
  const commit = git("log", "-1", "--format=%h (%cs)");
  const changed = commit && git("status", "--porcelain", "--untracked-files=no");
  return `mlrb ${commit ?? "of an unknown commit"}${changed ? " with local changes" : ""}, Node ${process.version}\n`;
}
