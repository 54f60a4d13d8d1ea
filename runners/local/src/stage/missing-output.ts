// Whether a stage gave what it declares.

import { statSync } from "node:fs";
import type { Artifact } from "@mlrb/formats/stage/artifact";

/** Which output it did not give, or gave as something else; undefined where all are there. */
export function missingOutput(
  gives: { name: string; kind: Artifact["kind"] }[],
  paths: Record<string, string>,
): string | undefined {
  for (const { name, kind } of gives) {
    const stats = statSync(paths[name]!, { throwIfNoEntry: false });
    const found = stats && (stats.isDirectory() ? "dir" : "file");
    if (found === kind) continue;
    return found
      ? `output "${name}" is not a ${kind === "dir" ? "folder" : "file"}`
      : `it ended well and did not write its output "${name}"`;
  }
  return undefined;
}
