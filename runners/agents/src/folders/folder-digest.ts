// Digests of the inputs that an agent gets, for the trajectory's first line.
import { createHash, hash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { CopiedTree } from "@mlrb/core/ports/sandbox";
import { handedOver } from "@mlrb/kit/attempts/handed-over";
import { treeDigest } from "./copy-out.ts";

/**
 * sha256 over the part of a trusted folder that an agent gets: paths, sizes and contents, links, executable bits
 * and empty folders. A copy has the same digest.
 */
export async function folderDigest(folder: string): Promise<string> {
  const files: CopiedTree["files"] = [];
  const marks: string[] = [];
  const entries = handedOver(folder);
  const filled = new Set(entries.map(({ path }) => path.split("/").slice(0, -1).join("/")));
  const buffer = Buffer.allocUnsafe(1 << 20); // a stream's smaller pieces take twice as long
  for (const entry of entries) {
    const { path } = entry;
    if (entry.kind === "link") marks.push(`${path}\0link\0${entry.target}\n`);
    if (entry.kind === "folder" && !filled.has(path)) marks.push(`${path}\0folder\n`);
    if (entry.kind !== "file") continue;
    if (entry.executable) marks.push(`${path}\0executable\n`);
    files.push({ path, ...(await fileDigest(join(folder, path), buffer)) });
  }
  const digest = treeDigest(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
  return marks.length === 0 ? digest : hash("sha256", digest + marks.join(""));
}

async function fileDigest(path: string, buffer: Buffer): Promise<{ bytes: number; digest: string }> {
  const content = createHash("sha256");
  await using file = await open(path);
  for (let bytes = 0; ; ) {
    const { bytesRead } = await file.read(buffer);
    if (bytesRead === 0) return { bytes, digest: content.digest("hex") };
    content.update(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}
