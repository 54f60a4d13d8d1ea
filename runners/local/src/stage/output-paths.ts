// The paths of a stage's outputs in its work folder. Defined once, since the run that ingests the outputs may
// differ from the run that prepared the folder.
import { join } from "node:path";

/** Absolute, by output name. Two outputs with one file name have separate folders. */
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
