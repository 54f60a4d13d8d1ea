// The paths of a stage's outputs in its work folder. One place defines them, since another run than the one that prepared
// the folder may ingest the outputs.
import { join } from "node:path";

/** Absolute, by output. Two outputs with one file name have folders of their own. */
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
