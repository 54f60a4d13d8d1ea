// Computes the digest that a file or folder would have in the store, without storing it.

import { hash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { hashFile } from "./hash-file.ts";

/** Undefined if the path is missing or holds an entry without content of its own. Throws on errors of the machine. */
export function artifactDigest(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) return hashFile(path);
  if (!stats?.isDirectory()) return undefined;
  const entries: object[] = [];
  for (const name of readdirSync(path).sort()) {
    const inside = join(path, name);
    const digest = artifactDigest(inside);
    if (digest === undefined) return undefined;
    const { mode } = lstatSync(inside);
    const kind = lstatSync(inside).isDirectory() ? "dir" : "file";
    entries.push({
      name,
      kind,
      digest,
      ...(kind === "file" && (mode & 0o111) !== 0 && { executable: true }),
    });
  }
  return hash("sha256", canonicalJson({ formatVersion: 1, entries }));
}
