// Selects the test files and their order.
import { globSync } from "node:fs";

/** All test files, relative to the repository, sorted. */
export function findTestFiles(repository: string): string[] {
  return globSync("{runners,tasks,scorers,pipelines,scripts,docs,tests}/**/*.test.ts", {
    cwd: repository,
    exclude: ["**/node_modules/**"],
  }).sort();
}

export type Selection = {
  /** Includes the thorough tier. */
  thorough: boolean;
  /** Parts of paths; none selects every file. */
  wanted: readonly string[];
};

/** A file of the thorough tier also runs when its whole path is given. */
export function selectTestFiles(files: readonly string[], { thorough, wanted }: Selection): string[] {
  return files
    .filter((file) => thorough || !isThorough(file) || wanted.includes(file))
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
}

function isThorough(file: string): boolean {
  return file.endsWith(".thorough.test.ts");
}

/** Whether a file may run Python scripts with heavy imports, and so needs the warm Python process. */
export function mayUsePython(file: string): boolean {
  return /^(scorers|tasks|tests|runners\/kit\/tests)\//.test(file);
}

/** Longest first, so that no worker has a long file left at the end. Files of unknown length come last. */
export function longestFirst(files: readonly string[], seconds: Readonly<Record<string, number>>): string[] {
  return files.toSorted((left, right) => (seconds[right] ?? 0) - (seconds[left] ?? 0));
}
