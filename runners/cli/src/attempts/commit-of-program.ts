// The commit of this checkout, for what is written about results.
import { execFileSync } from "node:child_process";

/** Null without Git, or outside of a repository. */
export function commitOfProgram(): string | null {
  try {
    const git = ["rev-parse", "--verify", "HEAD"];
    const found = execFileSync("git", git, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return /^[0-9a-f]{40,64}$/.test(found) ? found : null;
  } catch {
    return null;
  }
}
