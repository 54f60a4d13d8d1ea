// Lists the differences from main in this checkout: commits, uncommitted edits and new files.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";
import type { Sources } from "./reach.ts";

/** Paths relative to the repository. Throws where git fails. */
export function changedFiles(repository: string): string[] {
  const git = gitIn(repository);
  const main = ["origin/main", "main"].find(
    (name) => $.sync({ cwd: repository, nothrow: true })`git rev-parse --verify -q ${name}`.exitCode === 0,
  );
  if (main === undefined) throw new Error("there is neither origin/main nor main to compare with");
  const [base = ""] = git("merge-base", "HEAD", main);
  return [
    ...new Set([
      ...git("diff", "--name-only", "--no-renames", base.trim()),
      ...git("ls-files", "-o", "--exclude-standard"),
    ]),
  ].sort();
}

const textBytesMax = 1 << 20;

/** Every file that git tracks or would add. Only code files of usual size have their contents. */
export function sourcesOf(repository: string): Sources {
  const paths = gitIn(repository)("ls-files", "-co", "--exclude-standard").filter((path) =>
    existsSync(join(repository, path)),
  );
  return new Map(
    paths.map((path) => {
      const code = /\.(ts|js|mjs|py)$/.test(path) && statSync(join(repository, path)).size <= textBytesMax;
      return [path, code ? readFileSync(join(repository, path), "utf8") : ""];
    }),
  );
}

/** Runs git in `cwd`; returns the lines that it prints. */
export function gitIn(cwd: string) {
  return (...args: string[]): string[] =>
    $.sync({ cwd })`git -c core.quotePath=false ${args}`.lines().filter((line) => line !== "");
}
