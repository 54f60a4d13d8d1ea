// Where a stage leaves what it gives, in its work folder: said in one place, since whoever takes it in may be
// another run than the one that laid the folder out.
import { join } from "node:path";

/** Absolute, by output. Two outputs of one file name stand in folders of their own. */
export function outputPaths(
  work: string,
  gives: readonly { name: string; file: string }[],
): Record<string, string> {
  return Object.fromEntries(
    gives.map(({ name, file }) => {
      const shared = gives.some((other) => other.name !== name && other.file === file);
      return [name, shared ? join(work, "out", name, file) : join(work, "out", file)];
    }),
  );
}
