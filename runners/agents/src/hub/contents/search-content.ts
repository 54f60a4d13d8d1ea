// Searches one downloaded file for withheld rows, whatever it is packed in. Runs in a process of its own
// (search-file.ts): a hostile file may take all its memory.
import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { extract } from "tar-stream";
import { open as openZip, type ZipFile } from "yauzl";
import { type ContentKind, contentKind, peekBytes } from "./content-kind.ts";
import { kindOfTensor, weightsHeader } from "./weights-content.ts";
import { textsOf } from "./withheld-rows.ts";

/** Gets the texts in pieces; `end` ends one. */
type TextSearch = { push(piece: string): void; end(): void };

export type ContentRequest = {
  search: TextSearch;
  /** An empty folder for what must lie in a file to be opened. */
  scratch: string;
  /** Whether content that cannot be read is an error: a data set consists of rows. */
  strict: boolean;
  /** Unpacked bytes that are looked at, at most. */
  bytesMax: number;
  /** Of the files in one archive that cannot be opened. */
  closedBytesMax?: number;
};

/** Content that cannot be looked at. */
export class Unreadable extends Error {}

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
  stream: Readable,
  kind: ContentKind,
  at: { looking: Looking; depth: number; head: Buffer },
): Promise<void> {
  const { looking, depth, head } = at;
  if (depth > depthMax) throw new Unreadable(`packed more than ${depthMax} times`);
  switch (kind) {
    case "gzip":
      return await lookInside(piped(stream, createGunzip()), looking, depth + 1);
    case "zstd":
      return await lookInside(piped(stream, createZstdDecompress()), looking, depth + 1);
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
      for await (const piece of stream as AsyncIterable<Buffer>) count(looking, piece.length);
      return;
    case "utf-16":
      return await lookAtText(stream, head[0] === 0xfe || head[0] === 0 ? "utf-16be" : "utf-16le", looking);
    case "binary":
      if (looking.strict) throw new Unreadable("binary content of a format that is not known here");
      return await lookAtText(stream, "utf-8", looking);
    case "text":
      return await lookAtText(stream, "utf-8", looking);
  }
}

/** An error of the first stream is an error of the second. */
function piped<To extends NodeJS.ReadWriteStream>(from: Readable, to: To): Readable {
  from.on("error", (error) => (to as unknown as Readable).destroy(error));
  return from.pipe(to) as unknown as Readable;
}

/** A stream of which nothing is known yet. */
async function lookInside(
  stream: Readable,
  looking: Looking,
  depth: number,
  kindOf: (head: Buffer) => ContentKind = contentKind,
): Promise<void> {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const begin: Buffer[] = [];
  let length = 0;
  while (length < peekBytes) {
    const { value, done } = await pieces.next();
    if (done) break;
    begin.push(value);
    length += value.length;
  }
  const head = Buffer.concat(begin);
  async function* whole() {
    yield head;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  }
  const kind = kindOf(head.subarray(0, peekBytes));
  await lookAtStream(Readable.from(whole()), kind, { looking, depth, head });
}

async function lookAtTar(stream: Readable, looking: Looking, depth: number): Promise<void> {
  const entries = piped(stream, extract() as never) as unknown as AsyncIterable<
    Readable & { header: { name: string } }
  >;
  for await (const entry of entries) {
    searchWhole(entry.header.name, looking);
    await lookInside(entry, looking, depth);
    entry.resume();
  }
}

async function lookAtZip(path: string, looking: Looking, depth: number): Promise<void> {
  if (depth > depthMax) throw new Unreadable(`packed more than ${depthMax} times`);
  const zip = await new Promise<ZipFile>((done, fail) =>
    openZip(path, { lazyEntries: true, autoClose: false }, (error, opened) =>
      error ? fail(error) : done(opened),
    ),
  );
  let hasPickle = false;
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName;
      searchWhole(name, looking);
      if (name.endsWith("/")) continue;
      if (entry.isEncrypted()) throw new Unreadable("an encrypted archive");
      hasPickle ||= /(^|\/)data\.pkl$/.test(name);
      const mayBeTensor = !looking.strict && hasPickle && /(^|\/)data\/\d+$/.test(name);
      const stream = await zip.openReadStreamPromise(entry);
      await lookInside(stream, looking, depth + 1, mayBeTensor ? kindOfTensor : contentKind);
    }
  } finally {
    zip.close();
  }
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
  for (const group of metadata.row_groups) {
    // a read of some rows unpacks the group from its first row on
    const reads = Math.max(1, Math.ceil(Number(group.total_byte_size) / parquetBytesAtOnce));
    const end = from + Number(group.num_rows);
    const rowsAtOnce = Math.max(1, Math.ceil((end - from) / reads));
    for (; from < end; from += rowsAtOnce) {
      const range = { rowStart: from, rowEnd: Math.min(end, from + rowsAtOnce) };
      for (const row of await parquetReadObjects({ file, metadata, compressors, ...range }))
        for (const text of textsOf(row)) {
          count(looking, text.length);
          searchWhole(text, looking);
        }
    }
    from = end;
  }
}

async function lookAtText(stream: Readable, encoding: string, looking: Looking): Promise<void> {
  const decoder = new TextDecoder(encoding);
  for await (const piece of stream as AsyncIterable<Buffer>) {
    count(looking, piece.length);
    looking.search.push(decoder.decode(piece, { stream: true }));
  }
  looking.search.push(decoder.decode());
  looking.search.end();
}

async function passClosed(stream: Readable, looking: Looking): Promise<void> {
  for await (const piece of stream as AsyncIterable<Buffer>) {
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

async function lookInScratch(stream: Readable, looking: Looking, depth: number): Promise<void> {
  const path = join(looking.scratch, randomBytes(8).toString("hex"));
  try {
    async function* counted(pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        count(looking, piece.length);
        yield piece;
      }
    }
    await pipeline(stream, counted, createWriteStream(path));
    await lookAtFile(path, looking, depth);
  } finally {
    rmSync(path, { force: true });
  }
}
