// Searches one downloaded file for withheld rows, whatever it is packed in. Runs in a process of its own
// (search-file.ts): a hostile file may take all its memory.
import { randomBytes } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { extract } from "tar-stream";
import { type ContentKind, contentKind, peekBytes } from "./content-kind.ts";
import { looksPacked } from "./sampled-text.ts";
import { type Pieces, unpacked } from "./unpacked.ts";
import { Unreadable } from "./unreadable.ts";
import { kindOfTensor, weightsHeader } from "./weights-content.ts";
import { textsOf } from "./withheld-rows.ts";
import { zipMembers } from "./zip-members.ts";

/** Gets the texts in pieces; `end` ends one. */
type TextSearch = { push(piece: string): void; end(): void };

export type ContentRequest = {
  search: TextSearch;
  /**
   * Begins one more search, of all bytes as they are: content with the first bytes of a format may hold text where
   * readers of that format do not look. Without it only what readers find is searched.
   */
  raw?: (() => TextSearch) | undefined;
  /** An empty folder for what must lie in a file to be opened. */
  scratch: string;
  /** Whether content that cannot be read is an error: a data set consists of rows. */
  strict: boolean;
  /** Unpacked bytes that are looked at, at most. */
  bytesMax: number;
  /** Of the files in one archive that cannot be opened. */
  closedBytesMax?: number;
};

const depthMax = 4;
/** Unpacked bytes of Parquet that are read at once. */
const parquetBytesAtOnce = 128 << 20;
/**
 * Of the files in one archive that cannot be opened. Wheels hold some for their tests: joblib 15 with 12 kB,
 * networkx four with 194 kB.
 */
const closedBytesMax = 1 << 20;

type Looking = ContentRequest & {
  /** Looked at so far. */
  bytes: number;
  /** In files that cannot be opened. */
  closedBytes: number;
};

/** Throws `Unreadable`, or the error of a library on damaged content. */
export async function searchFile(path: string, request: ContentRequest): Promise<void> {
  const looking = { ...request, bytes: 0, closedBytes: 0 };
  await lookAtFile(path, looking, 0);
  // what can be opened is searched first
  if (looking.closedBytes > (request.closedBytesMax ?? closedBytesMax))
    throw new Unreadable("it holds a compressed format that cannot be opened here");
}

async function lookAtFile(path: string, looking: Looking, depth: number): Promise<void> {
  const { head, tail } = await ends(path);
  let kind = contentKind(head);
  if (looking.raw && !isReadRaw(kind))
    await lookAtText(createReadStream(path), "utf-8", { ...looking, search: looking.raw() });
  if (kind === "safetensors") {
    const header = looking.strict ? undefined : await weightsHeader(path);
    if (header !== undefined) return searchWhole(header, looking);
    kind = "binary";
  }
  if (kind === "parquet") return await lookAtParquet(path, looking);
  // as text first: a damaged index of a ZIP hides nothing before it
  if (kind !== "zip") await lookAtStream(createReadStream(path), kind, { looking, depth, head });
  if (kind === "zip" || mayBeZip(tail)) await lookAtZip(path, looking, depth);
}

/** Whether all its bytes are searched as they are in any case. */
const isReadRaw = (kind: ContentKind) => kind === "text" || kind === "binary";

/** What must lie in a file to be opened. */
const inScratch = (kind: ContentKind) => kind === "zip" || kind === "parquet" || kind === "safetensors";

/** Programs find the index of a ZIP at its end, whatever comes first. */
export function mayBeZip(tail: Buffer): boolean {
  return tail.includes("PK\x05\x06");
}

/** The first and the last bytes of a file. */
export async function ends(path: string): Promise<{ head: Buffer; tail: Buffer }> {
  await using file = await open(path);
  const { size } = await file.stat();
  const at = async (position: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(peekBytes), 0, peekBytes, position);
    return buffer.subarray(0, bytesRead);
  };
  return { head: await at(0), tail: await at(Math.max(0, size - peekBytes)) };
}

async function lookAtStream(
  stream: Pieces,
  kind: ContentKind,
  at: { looking: Looking; depth: number; head: Buffer },
): Promise<void> {
  const { looking, depth, head } = at;
  if (depth > depthMax) throw new Unreadable(`packed more than ${depthMax} times`);
  switch (kind) {
    case "gzip":
      return await lookInside(unpacked(stream, createGunzip()), looking, depth + 1);
    case "zlib":
      return await lookInside(unpacked(stream, createInflate()), looking, depth + 1);
    case "zstd":
      return await lookInside(unpacked(stream, createZstdDecompress()), looking, depth + 1);
    case "tar":
      return await lookAtTar(stream, looking, depth + 1);
    case "zip":
    case "parquet":
    case "safetensors":
      return await lookInScratch(stream, looking, depth + 1);
    case "closed-archive":
      if (looking.strict || depth === 0)
        throw new Unreadable("a compressed format that cannot be opened here");
      return await passClosed(stream, looking);
    case "media":
      if (looking.strict) return await lookAtText(stream, "utf-8", looking);
      for await (const piece of stream) count(looking, piece.length);
      return;
    case "utf-16":
      return await lookAtText(stream, head[0] === 0xfe || head[0] === 0 ? "utf-16be" : "utf-16le", looking);
    case "binary":
      if (looking.strict) throw new Unreadable("binary content of a format that is not known here");
      return await lookAtText(looking.raw ? withPacked(stream, looking) : stream, "utf-8", looking);
    case "text":
      return await lookAtText(stream, "utf-8", looking);
  }
}

/** Content of which nothing is known yet. */
async function lookInside(
  stream: Pieces,
  looking: Looking,
  depth: number,
  kindOf: (head: Buffer) => ContentKind = contentKind,
): Promise<void> {
  const pieces = stream[Symbol.asyncIterator]();
  const begin: Buffer[] = [];
  const failed: unknown[] = [];
  for (let length = 0; length < peekBytes; length += begin.at(-1)!.length) {
    const next = await pieces.next().catch((error) => void failed.push(error));
    if (!next || next.done) break;
    begin.push(next.value);
  }
  const head = Buffer.concat(begin);
  async function* whole() {
    yield head;
    throwFirst(failed); // after what was read before
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  }
  const kind = kindOf(head.subarray(0, peekBytes));
  const raw = isReadRaw(kind) || inScratch(kind) ? undefined : looking.raw?.();
  await lookAtStream(raw ? alsoSearched(whole(), raw) : whole(), kind, { looking, depth, head });
}

/** Gives the pieces on, and searches them as they are. */
async function* alsoSearched(pieces: Pieces, search: TextSearch): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder();
  try {
    for await (const piece of pieces) {
      search.push(decoder.decode(piece, { stream: true }));
      yield piece;
    }
  } finally {
    search.end();
  }
}

async function lookAtTar(stream: Pieces, looking: Looking, depth: number): Promise<void> {
  const unpack = extract();
  Readable.from(stream)
    .on("error", (error) => unpack.destroy(error))
    .pipe(unpack);
  const entries = unpack as unknown as AsyncIterable<Readable & { header: { name: string } }>;
  for await (const entry of entries) {
    searchWhole(entry.header.name, looking);
    await lookInside(entry, looking, depth);
    entry.resume();
  }
}

async function lookAtZip(path: string, looking: Looking, depth: number): Promise<void> {
  if (depth > depthMax) throw new Unreadable(`packed more than ${depthMax} times`);
  const failed: unknown[] = [];
  const note = (error: unknown) => void failed.push(error);
  let hasPickle = false;
  try {
    for await (const { name, content } of zipMembers(path, { unnamed: looking.raw !== undefined })) {
      searchWhole(name, looking);
      if (name.endsWith("/")) continue;
      hasPickle ||= /(^|\/)data\.pkl$/.test(name);
      const mayBeTensor = !looking.strict && hasPickle && /(^|\/)data\/\d+$/.test(name);
      await lookInside(content, looking, depth + 1, mayBeTensor ? kindOfTensor : contentKind).catch(note);
    }
  } catch (error) {
    note(error);
  }
  throwFirst(failed);
}

/** Also of a name or a header, which may carry text too. */
function searchWhole(text: string, { search }: Looking): void {
  search.push(text);
  search.end();
}

async function lookAtParquet(path: string, looking: Looking): Promise<void> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  searchWhole(JSON.stringify(metadata.key_value_metadata ?? []), looking);
  let from = 0;
  const failed: unknown[] = [];
  for (const group of metadata.row_groups) {
    // a read of some rows unpacks the group from its first row on
    const reads = Math.max(1, Math.ceil(Number(group.total_byte_size) / parquetBytesAtOnce));
    const end = from + Number(group.num_rows);
    let rowsAtOnce = Math.max(1, Math.ceil((end - from) / reads));
    while (from < end && rowsAtOnce > 0) {
      const range = { rowStart: from, rowEnd: Math.min(end, from + rowsAtOnce) };
      const reading = parquetReadObjects({ file, metadata, compressors, ...range });
      const rows = await reading.catch((error) => void failed.push(error));
      for (const text of (rows ?? []).flatMap(textsOf)) {
        count(looking, text.length);
        searchWhole(text, looking);
      }
      if (rows) from += rowsAtOnce;
      else rowsAtOnce >>= 1; // fewer rows may end before the damage
    }
    from = end;
  }
  throwFirst(failed);
}

async function lookAtText(stream: Pieces, encoding: string, looking: Looking): Promise<void> {
  const { search } = looking;
  const decoder = new TextDecoder(encoding);
  try {
    for await (const piece of stream) {
      search.push(decoder.decode(piece, { stream: true }));
      count(looking, piece.length);
    }
  } finally {
    search.push(decoder.decode());
    search.end();
  }
}

/** Gives the pieces on, and counts those of a compressed format without a name here, or of encrypted text. */
async function* withPacked(pieces: Pieces, looking: Looking): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    if (looksPacked(piece)) looking.closedBytes += piece.length;
    yield piece;
  }
}

async function passClosed(stream: Pieces, looking: Looking): Promise<void> {
  for await (const piece of stream) {
    looking.closedBytes += piece.length;
    if (looking.closedBytes > closedBytesMax)
      throw new Unreadable(`over ${closedBytesMax} bytes in compressed formats that cannot be opened here`);
  }
}

function count(looking: Looking, bytes: number): void {
  looking.bytes += bytes;
  if (looking.bytes > looking.bytesMax)
    throw new Unreadable(`more than ${looking.bytesMax} bytes when unpacked`);
}

async function lookInScratch(stream: Pieces, looking: Looking, depth: number): Promise<void> {
  const path = join(looking.scratch, randomBytes(8).toString("hex"));
  const failed: unknown[] = [];
  const note = (error: unknown) => void failed.push(error);
  async function* counted() {
    for await (const piece of stream) {
      count(looking, piece.length);
      yield piece;
    }
  }
  try {
    await writeFile(path, counted()).catch(note);
    await lookAtFile(path, looking, depth).catch(note); // also what ends too early
  } finally {
    rmSync(path, { force: true });
  }
  throwFirst(failed);
}

function throwFirst(errors: readonly unknown[]): void {
  if (errors.length > 0) throw errors[0];
}
