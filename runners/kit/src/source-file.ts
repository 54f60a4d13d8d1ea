// Files of the repository that a stage reads or starts besides its script. They are part of what can
// change its result, so a stage that reaches for one it did not declare is stopped: otherwise an edit of
// that file would be invisible to reuse.
import { matchesGlob, relative, resolve } from "node:path";
import { stage } from "./stage.ts";

/**
 * Absolute path of a repository file, given absolute or relative to the repository's root. Throws when the
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
