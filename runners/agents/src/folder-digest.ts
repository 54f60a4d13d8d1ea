// Digests of what the harness hands over, for the trajectory's first line.
import { createHash } from "node:crypto";
import { open, readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { treeDigest } from "./copy-out.ts";

export function textDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** sha256 over the paths, sizes and contents of a trusted folder, byte code left out; a copy has the same. */
export async function folderDigest(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = [];
  const buffer = Buffer.allocUnsafe(1 << 20); // a stream's smaller pieces take twice as long
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const at = join(entry.parentPath, entry.name);
    const path = relative(folder, at).split(sep).join("/");
    if (path.split("/").includes("__pycache__")) continue;
    files.push({ path, ...(await fileDigest(at, buffer)) });
  }
  return treeDigest(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
}

async function fileDigest(path: string, buffer: Buffer): Promise<{ bytes: number; digest: string }> {
  const hash = createHash("sha256");
  const file = await open(path);
  try {
    for (let bytes = 0; ; ) {
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return { bytes, digest: hash.digest("hex") };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}
