// Copies what may hold text out of a hostile folder, e.g. what is left in the workspace of an attempt, so that it can
// be read after the sandbox is gone. Binary files may hold text too, e.g. a cache in Arrow's format: they get the room
// that texts leave, and weights and media what these leave. Of weights that do not fit the header is copied.
import { join } from "node:path";
import type { CopiedTexts, TextLimits, TextsRequest } from "@mlrb/core/ports/sandbox";
import { contentKind, peekBytes } from "../hub/contents/content-kind.ts";
import { samplesHoldText, valuesBegin } from "../hub/contents/sampled-text.ts";
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
  const { fileBytesMax, filesMax } = limits;
  const from = { root, inside };
  const unbounded = { filesMax, bytesMax: Number.MAX_SAFE_INTEGER };
  const texts: Text[] = [];
  const how = { without, partial: true };
  const look = await walkFolder(
    from,
    unbounded,
    async ({ path, at, stats }) => {
      const text = await lookAt(at);
      if (typeof text === "string") return text;
      texts.push({ path, bytes: Number(stats.size), ...text });
      return undefined;
    },
    how,
  );
  const { fitting, tooMany } = chosen(texts, limits);
  const files: CopiedTexts["files"] = [];
  const copies = await walkFolder(
    from,
    unbounded,
    async ({ path, at }) => {
      const room = fitting.get(path);
      if (room === undefined) return undefined;
      const copied = await copyFile(at, join(to, path), { room, before: undefined });
      if (typeof copied === "string") return copied;
      files.push({ path, bytes: copied.bytes, digest: copied.digest });
      return undefined;
    },
    how,
  );
  const unfit = tooMany.map(({ path, bytes, order, holdsNone }) => {
    const why = bytes > fileBytesMax ? "too large" : "no room is left for its text";
    const isSearched = holdsNone !== undefined && (fitting.has(path) || holdsNone.header === 0);
    if (isSearched) return { path, why: `no text: ${holdsNone.kind}` };
    return { path, why: order === 0 ? why : `binary: ${why}` };
  });
  const leftOut = [...unfit, ...look.leftOut, ...copies.leftOut.filter(({ path }) => fitting.has(path))];
  const listed = leftOut.slice(0, listedMax);
  const leftOutMore = leftOut.length - listed.length + look.leftOutMore;
  return { files, leftOut: listed, leftOutMore, ...(look.over !== undefined && { over: look.over }) };
}

type Text = {
  path: string;
  bytes: number;
  /** Of copying: texts, archives and tables, which hold texts; other binary files; weights and media. */
  order: 0 | 1 | 2;
  /** Weights, after their header, and media in which no text was seen. */
  holdsNone?: { kind: string; header: number };
};

/** `fitting`: how many bytes of each are copied. */
function chosen(texts: Text[], { bytesMax, fileBytesMax }: TextLimits) {
  const sorted = [...texts].sort(
    (a, b) => a.order - b.order || a.bytes - b.bytes || (a.path < b.path ? -1 : 1),
  );
  let room = bytesMax;
  const fitting = new Map<string, number>();
  const tooMany: Text[] = [];
  for (const text of sorted) {
    const { path, bytes, holdsNone } = text;
    const fits = (size: number) => size <= fileBytesMax && size <= room;
    if (!fits(bytes)) tooMany.push(text);
    const copied = [bytes, holdsNone?.header || bytes].find(fits);
    if (copied === undefined) continue;
    room -= copied;
    fitting.set(path, copied);
  }
  return { fitting, tooMany };
}

/** Or why the file cannot be read. */
async function lookAt(at: Buffer): Promise<Omit<Text, "path" | "bytes"> | string> {
  try {
    await using file = await openRegular(at);
    if (!file) return "no longer a plain file";
    const { buffer, bytesRead } = await file.read(Buffer.alloc(peekBytes), 0, peekBytes, 0);
    const head = buffer.subarray(0, bytesRead);
    const kind = contentKind(head);
    if (kind === "binary") return { order: 1 };
    if (kind !== "safetensors" && kind !== "media") return { order: 0 };
    if (await samplesHoldText(file, head)) return { order: 2 };
    return { order: 2, holdsNone: { kind, header: valuesBegin(head) } };
  } catch (error) {
    return agentsDoing(error);
  }
}
