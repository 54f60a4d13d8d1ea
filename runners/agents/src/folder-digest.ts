// Digests of what the harness hands over, for the trajectory's first line.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { treeDigest } from "./copy-out.ts";

export function textDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** sha256 over the paths, sizes and contents of a trusted folder, byte code left out; a copy has the same. */
export async function folderDigest(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const at = join(entry.parentPath, entry.name);
    const path = relative(folder, at).split(sep).join("/");
    if (path.split("/").includes("__pycache__")) continue;
    const hash = createHash("sha256");
    let bytes = 0;
    await pipeline(createReadStream(at), async (chunks) => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    });
    files.push({ path, bytes, digest: hash.digest("hex") });
  }
  return treeDigest(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
}
