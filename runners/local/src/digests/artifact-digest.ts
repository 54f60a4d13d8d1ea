// Computes the digest that a file or folder would have in the store, without storing it.

import { hash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { hashFile } from "./hash-file.ts";

/** Files by their absolute paths. */
export type AbsentFiles = ReadonlyMap<string, AbsentFile>;
type AbsentFile = { digest: string; executable?: true };

/**
 * The names in a folder, in code-unit order, with those of absent files. A file that is there counts as it is.
 */
export function namesWith(
  folder: string,
  absent: AbsentFiles = new Map(),
): { name: string; absent?: AbsentFile }[] {
  const here = readdirSync(folder);
  const held = new Set(here);
  const gone = [...absent].filter(([path]) => dirname(path) === folder && !held.has(basename(path)));
  const all = [
    ...here.map((name) => ({ name })),
    ...gone.map(([path, one]) => ({ name: basename(path), absent: one })),
  ];
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `absent`: files that count although they are gone. Undefined if the path is missing or holds an entry without content of its own. Throws on errors of the machine. */
export function artifactDigest(path: string, absent?: AbsentFiles): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) return hashFile(path);
  if (!stats?.isDirectory()) return undefined;
  const entries: object[] = [];
  for (const { name, absent: gone } of namesWith(path, absent)) {
    if (gone) {
      entries.push({ name, kind: "file", ...gone });
      continue;
    }
    const inside = join(path, name);
    const digest = artifactDigest(inside, absent);
    if (digest === undefined) return undefined;
    const own = lstatSync(inside);
    const kind = own.isDirectory() ? "dir" : "file";
    const executable = kind === "file" && (own.mode & 0o111) !== 0;
    entries.push({ name, kind, digest, ...(executable && { executable }) });
  }
  return hash("sha256", canonicalJson({ formatVersion: 1, entries }));
}
