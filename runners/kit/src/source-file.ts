// Files of the repository that a stage reads or runs besides its script. They can change its result, so a stage
// that uses an undeclared one is stopped: otherwise reuse would miss an edit of that file.
import { globSync } from "node:fs";
import { matchesGlob, posix, relative, resolve } from "node:path";
import { stage } from "./stage.ts";

/**
 * Absolute path of a repository file, given absolute or relative to the repository's root. Throws if the
 * pipeline's `files:` does not cover it. By hand, without a pipeline, everything is allowed.
 */
export function sourceFile(path: string): string {
  const absolute = resolve(path);
  if (!process.env.MLRB_STAGE) return absolute;
  const inside = relative(process.cwd(), absolute);
  const { files, stage: id } = stage();
  if (!files.some((pattern) => pattern === inside || matchesGlob(inside, pattern))) {
    throw new Error(
      `${id} uses ${inside}, which its files: does not name; add it in the pipeline, or a change of it would go unnoticed`,
    );
  }
  return absolute;
}

/**
 * Absolute path of a repository folder that is given to an agent as a whole. Throws if the pipeline's `files:`
 * does not cover all of it, as `FOLDER/**`: an agent's files must be in its attempt's key.
 */
export function sourceFolder(path: string): string {
  const absolute = resolve(path);
  if (!process.env.MLRB_STAGE) return absolute;
  const inside = relative(process.cwd(), absolute);
  const { files, stage: id } = stage();
  const covers = (pattern: string) =>
    pattern.endsWith("/**") && `${inside}/`.startsWith(pattern.slice(0, -2));
  if (!files.map((pattern) => posix.normalize(pattern)).some(covers)) {
    throw new Error(
      `${id} hands over ${inside}, which its files: does not name; add ${inside}/** in the pipeline, or a change of it would go unnoticed`,
    );
  }
  return absolute;
}

/**
 * Absolute paths of the repository files that match a pattern of `files:`, in code-unit order. A script that lists
 * the folder itself would depend on names that are not in its key. Throws if `files:` does not contain the
 * pattern.
 */
export function sourceFiles(pattern: string): string[] {
  if (!process.env.MLRB_STAGE)
    return globSync(pattern)
      .sort()
      .map((path) => resolve(path));
  const { files, sources = [], stage: id } = stage();
  if (!files.includes(pattern))
    throw new Error(
      `${id} uses ${pattern}, which its files: does not name; write \`files: [${[...files, pattern].join(", ")}]\` in the pipeline`,
    );
  return sources.filter((path) => matchesGlob(path, pattern)).map((path) => resolve(path));
}
