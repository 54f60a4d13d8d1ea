// Takes files out of a folder in which a hostile program may be writing at this moment.
import { rmdir, unlink } from "node:fs/promises";
import type { DrainRequest } from "@mlrb/core/ports/sandbox";
import { child, names, type OpenFolder, openInside, openRegular } from "./open-folder.ts";
import { agentsDoing } from "./walk-folder.ts";

/** Entries of the folder that are listed in one call: others have names that do not count, or their turn comes. */
const listedMax = 20_000;

/** A folder that a program removed or replaced is empty. */
export async function drainFolder(root: string, request: DrainRequest): Promise<void> {
  const { inside, filesMax, without, take } = request;
  try {
    await using folder = await openInside(root, inside);
    const all = (await names(folder, listedMax)).names;
    const wanted = all.filter((name) => {
      const text = name.toString("latin1"); // names that are not UTF-8 stay distinct
      return text.endsWith(".json") && !without.has(text);
    });
    for (const name of wanted.slice(0, filesMax)) {
      const content = await contentOf(folder, name, request);
      if (content === "gone") continue;
      take(name.toString(), content);
      if (!(await isRemoved(child(folder, name)))) without.add(name.toString("latin1"));
    }
  } catch (error) {
    agentsDoing(error);
  }
}

async function contentOf(folder: OpenFolder, name: Buffer, { bytesMax }: DrainRequest) {
  try {
    await using file = await openRegular(child(folder, name));
    if (!file) return { refused: "no regular file" };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax + 1), 0, bytesMax + 1, 0);
    return bytesRead > bytesMax
      ? { refused: `more than ${bytesMax} bytes` }
      : new Uint8Array(buffer.subarray(0, bytesRead));
  } catch (error) {
    const refused = agentsDoing(error);
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "gone" : { refused };
  }
}

/** A folder that holds something, or an entry of a folder that may not be written, stays. */
async function isRemoved(path: Buffer): Promise<boolean> {
  const removed = () => true;
  return unlink(path).then(removed, () => rmdir(path).then(removed, () => false));
}
