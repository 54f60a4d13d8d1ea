// Copies what may hold text out of a hostile folder, e.g. what is left in the workspace of an attempt, so that it can
// be read after the sandbox is gone. Binary files may hold text too, e.g. a cache in Arrow's format: they get the room
// that texts leave. Weights, images and what does not fit are listed and not copied.
import { join } from "node:path";
import type { CopiedTexts, TextLimits, TextsRequest } from "@mlrb/core/ports/sandbox";
import { contentKind, peekBytes } from "../hub/contents/content-kind.ts";
import { copyFile } from "./copy-out.ts";
import { openRegular } from "./open-folder.ts";
import { agentsDoing, walkFolder } from "./walk-folder.ts";

const listedMax = 500;

/**
 * Copies files of the folder `inside` below a trusted root to the new folder `to`, the smallest first: a large file
 * cannot push out a program. Throws only on trouble that the agent did not cause.
 */
export async function copyTexts(
  root: string,
  { inside, to, without, limits }: TextsRequest,
): Promise<CopiedTexts> {
  const { bytesMax, fileBytesMax, filesMax } = limits;
  const from = { root, inside };
  const unbounded = { filesMax, bytesMax: Number.MAX_SAFE_INTEGER };
  const texts: Text[] = [];
  const how = { without, partial: true };
  const look = await walkFolder(
    from,
    unbounded,
    async ({ path, at, stats }) => {
      const kind = await kindOf(at);
      if (kind !== "text" && kind !== "binary") return kind;
      texts.push({ path, bytes: Number(stats.size), isBinary: kind === "binary" });
      return undefined;
    },
    how,
  );
  const { fitting, tooMany } = chosen(texts, limits);
  const found: CopiedTexts = { files: [], leftOut: [], leftOutMore: 0, textBytesLeftOut: 0 };
  for (const { bytes } of tooMany) found.textBytesLeftOut += bytes;
  let room = bytesMax;
  const copies = await walkFolder(
    from,
    unbounded,
    async ({ path, at }) => {
      if (!fitting.has(path)) return undefined;
      const copied = await copyFile(at, join(to, path), {
        room: Math.min(room, fileBytesMax),
        before: undefined,
      });
      if (typeof copied === "string") return copied;
      room -= copied.bytes;
      found.files.push({ path, bytes: copied.bytes, digest: copied.digest });
      return undefined;
    },
    how,
  );
  const unfit = tooMany.map(({ path, bytes, isBinary }) => {
    const why = bytes > fileBytesMax ? "too large" : "no room is left for its text";
    return { path, why: isBinary ? `binary: ${why}` : why };
  });
  const leftOut = [...unfit, ...look.leftOut, ...copies.leftOut.filter(({ path }) => fitting.has(path))];
  const listed = leftOut.slice(0, listedMax);
  const leftOutMore = leftOut.length - listed.length + look.leftOutMore;
  return { ...found, leftOut: listed, leftOutMore, ...(look.over !== undefined && { over: look.over }) };
}

type Text = { path: string; bytes: number; isBinary: boolean };

function chosen(texts: Text[], { bytesMax, fileBytesMax }: TextLimits) {
  const sorted = [...texts].sort(
    (a, b) => Number(a.isBinary) - Number(b.isBinary) || a.bytes - b.bytes || (a.path < b.path ? -1 : 1),
  );
  let room = bytesMax;
  const fitting = new Set<string>();
  for (const { path, bytes } of sorted) {
    if (bytes > fileBytesMax || bytes > room) continue;
    room -= bytes;
    fitting.add(path);
  }
  return { fitting, tooMany: sorted.filter(({ path }) => !fitting.has(path)) };
}

/** `text` also for archives and tables, which hold texts; `binary`; or why the file holds none, or cannot be read. */
async function kindOf(at: Buffer): Promise<string> {
  try {
    await using file = await openRegular(at);
    if (!file) return "no longer a plain file";
    const { buffer, bytesRead } = await file.read(Buffer.alloc(peekBytes), 0, peekBytes, 0);
    const kind = contentKind(buffer.subarray(0, bytesRead));
    if (kind === "binary") return kind;
    return kind === "safetensors" || kind === "media" ? `no text: ${kind}` : "text";
  } catch (error) {
    return agentsDoing(error);
  }
}
