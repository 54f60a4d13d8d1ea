// Checks that a stage wrote its declared outputs.

import { statSync } from "node:fs";
import type { Artifact } from "@mlrb/formats/stage/artifact";

/** The first output that is missing or of another kind; undefined when all are valid. */
export function missingOutput(
  gives: { name: string; kind: Artifact["kind"] }[],
  paths: Record<string, string>,
): string | undefined {
  for (const { name, kind } of gives) {
    const stats = statSync(paths[name]!, { throwIfNoEntry: false });
    const found = stats && (stats.isDirectory() ? "dir" : "file");
    if (found === kind) continue;
    if (!found) return `it ended well and did not write its output "${name}"`;
    return `output "${name}" is not a ${kind === "dir" ? "folder" : "file"}`;
  }
  return undefined;
}
