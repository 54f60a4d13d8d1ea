// What differs between a locked source and the same source on the hub, in words.
// Pure: no disk, no clock.
import type { LockedSource } from "@mlrb/formats/declared/source-lock";
import { oneLine } from "../show/print.ts";

/** A line for each difference; empty if there is none. */
export function compareSources(locked: LockedSource, found: LockedSource): string[] {
  const lines: string[] = [];
  for (const key of ["repository", "revision", "licence", "gated"] as const)
    if (locked[key] !== found[key])
      lines.push(
        `${key}: ${oneLine(locked[key] ?? "none")} is locked, the hub has ${oneLine(found[key] ?? "none")}`,
      );
  const before = new Map(locked.files.map((file) => [file.path, file]));
  const now = new Map(found.files.map((file) => [file.path, file]));
  for (const path of [...new Set([...before.keys(), ...now.keys()])].sort()) {
    const [old, fresh] = [before.get(path), now.get(path)];
    if (fresh === undefined) lines.push(`file removed: ${oneLine(path)}`);
    else if (old === undefined) lines.push(`file added: ${oneLine(path)}, ${fresh.size} bytes`);
    else if (old.sha256 !== fresh.sha256)
      lines.push(
        `file changed: ${oneLine(path)}, ${old.size} bytes are locked, the hub has ${fresh.size} others`,
      );
    else if (old.size !== fresh.size)
      lines.push(`file size: ${oneLine(path)}, ${old.size} bytes are locked, the hub has ${fresh.size}`);
  }
  return lines;
}
