// Copies what may hold text out of a hostile folder, e.g. what is left in the workspace of an attempt, so that it can
// be read after the sandbox is gone. Weights, images and what does not fit are listed and not copied.
import { join } from "node:path";
import { contentKind, peekBytes } from "../hub/contents/content-kind.ts";
import { copyFile } from "./copy-out.ts";
import { openRegular } from "./open-folder.ts";
import { agentsDoing, walkFolder } from "./walk-folder.ts";

export type TextLimits = {
  /** Of all copies together, and of one. */
  bytesMax: number;
  fileBytesMax: number;
  /** Files and folders that are looked at. */
  filesMax: number;
};

export type CopiedTexts = {
  files: { path: string; bytes: number; digest: string }[];
  /** Not copied, and why: no text, too large, or nothing that can be read. Bounded. */
  leftOut: { path: string; why: string }[];
  leftOutMore: number;
  /** Bytes of text that do not fit. */
  textBytesLeftOut: number;
  /** In words, if there were more files than are looked at. */
  over?: string;
};

const listedMax = 500;

/**
 * Copies files of the folder `inside` below a trusted root to the new folder `to`, without the paths in `without`.
 * Throws only on trouble that the agent did not cause.
 */
export async function copyTexts(
  root: string,
  { inside, to, without, limits }: { inside: string; to: string; without: string[]; limits: TextLimits },
): Promise<CopiedTexts> {
  const found: CopiedTexts = { files: [], leftOut: [], leftOutMore: 0, textBytesLeftOut: 0 };
  let room = limits.bytesMax;
  const unbounded = { filesMax: limits.filesMax, bytesMax: Number.MAX_SAFE_INTEGER };
  const walk = await walkFolder(
    { root, inside },
    unbounded,
    async ({ path, at, stats }) => {
      const bytes = Number(stats.size);
      const kind = await kindOf(at);
      if (kind !== "text") return kind;
      const most = Math.min(room, limits.fileBytesMax);
      if (bytes > most) {
        found.textBytesLeftOut += bytes;
        return bytes > limits.fileBytesMax ? "too large" : "no room is left for its text";
      }
      const copied = await copyFile(at, join(to, path), { room: most, before: undefined });
      if (typeof copied === "string") return copied;
      room -= copied.bytes;
      found.files.push({ path, bytes: copied.bytes, digest: copied.digest });
      return undefined;
    },
    { without, partial: true },
  );
  const listed = walk.leftOut.slice(0, listedMax);
  const more = walk.leftOut.length - listed.length + walk.leftOutMore;
  return { ...found, leftOut: listed, leftOutMore: more, ...(walk.over !== undefined && { over: walk.over }) };
}

/** `text` also for archives and tables, which hold texts; otherwise why the file holds none, or cannot be read. */
async function kindOf(at: Buffer): Promise<string> {
  try {
    await using file = await openRegular(at);
    if (!file) return "no longer a plain file";
    const { buffer, bytesRead } = await file.read(Buffer.alloc(peekBytes), 0, peekBytes, 0);
    const kind = contentKind(buffer.subarray(0, bytesRead));
    return ["safetensors", "media", "binary"].includes(kind) ? `no text: ${kind}` : "text";
  } catch (error) {
    return agentsDoing(error);
  }
}
