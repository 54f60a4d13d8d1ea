// Writes sources.lock.yaml: a line for each file, sorted, so that a diff shows what moved.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSourceLock, sourceLockFile } from "@mlrb/core/spec/source-lock";
import type { LockedSource, SourceLock } from "@mlrb/formats/declared/source-lock";
import { writeWhole } from "@mlrb/kit/json-file";
import { Document, isMap, isSeq } from "yaml";

const head = ` yaml-language-server: $schema=pipelines/source-lock.schema.json
 Commits, files and licences of the sources in sources/. Written by \`pnpm pipeline sources lock\`; not edited by hand.
 A run that needs an unresolved source is refused.`;

/**
 * Puts `entry` into the lock as it is on disk now, so entries that another process wrote are kept. `declared`: the
 * names of all sources; others leave the lock.
 */
export function lockSource(
  repository: string,
  declared: readonly string[],
  { name, entry }: { name: string; entry: LockedSource },
): void {
  const path = join(repository, sourceLockFile);
  const read = readSourceLock({ read: () => (existsSync(path) ? readFileSync(path, "utf8") : undefined) });
  if (Array.isArray(read)) throw new Error(`${sourceLockFile} was damaged meanwhile; nothing was written`);
  const before = read?.value.sources ?? {};
  const sources: SourceLock["sources"] = {};
  for (const one of [...declared].sort()) {
    if (one === name) sources[one] = { kind: "resolved", ...entry };
    else sources[one] = Object.hasOwn(before, one) ? before[one]! : { kind: "unresolved" };
  }
  writeWhole(path, lockText({ formatVersion: 1, sources }));
}

function lockText(lock: SourceLock): string {
  const document = new Document(lock);
  document.commentBefore = head;
  for (const [name, source] of Object.entries(lock.sources)) {
    if (source.kind === "unresolved") {
      const entry = document.getIn(["sources", name], true);
      if (isMap(entry)) entry.flow = true;
      continue;
    }
    const files = document.getIn(["sources", name, "files"], true);
    if (isSeq(files)) for (const file of files.items) if (isMap(file)) file.flow = true;
    const patterns = document.getIn(["sources", name, "patterns"], true);
    if (isSeq(patterns)) patterns.flow = true;
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}
