// The members of a ZIP file. Those of a damaged or incomplete directory are found by their own headers.
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { createInflateRaw } from "node:zlib";
import { type Entry, openPromise as openZip, type ZipFile } from "yauzl";
import { type Pieces, unpacked } from "./unpacked.ts";
import { Unreadable } from "./unreadable.ts";

type Member = { name: string; content: Pieces };

const memberBegin = "PK\x03\x04";

/**
 * `unnamed`: also packed members that the directory does not name; plain ones are in the file as they are. An error
 * of the directory comes last, one of a member with its content.
 */
export async function* zipMembers(path: string, { unnamed }: { unnamed: boolean }): AsyncGenerator<Member> {
  const named = new Map<number, number>();
  const failed: unknown[] = [];
  try {
    const zip = await openZip(path, { autoClose: false });
    using _closing = { [Symbol.dispose]: () => zip.close() };
    for await (const entry of zip.eachEntry()) {
      named.set(entry.relativeOffsetOfLocalHeader, entry.relativeOffsetOfLocalHeader + entry.compressedSize);
      yield { name: entry.fileName, content: contentOf(zip, entry) };
    }
  } catch (error) {
    failed.push(error);
  }
  if (unnamed) yield* unnamedMembers(await readFile(path), named);
  if (failed.length > 0) throw failed[0];
}

async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  if (entry.isEncrypted()) throw new Unreadable("an encrypted archive");
  const isDeflated = entry.compressionMethod === 8;
  const stream = await zip.openReadStreamPromise(entry, { decodeFileData: !isDeflated });
  yield* isDeflated ? unpacked(stream, createInflateRaw()) : (stream as Pieces);
}

/** `named`: where each other member begins and ends. */
function* unnamedMembers(bytes: Buffer, named: ReadonlyMap<number, number>): Generator<Member> {
  for (let at = bytes.indexOf(memberBegin); at >= 0; at = bytes.indexOf(memberBegin, at)) {
    const end = named.get(at);
    if (end === undefined && bytes.length > at + 30 && bytes.readUInt16LE(at + 8) === 8) {
      const from = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
      yield { name: "", content: untilDamage(bytes.subarray(from)) };
    }
    at = end ?? at + memberBegin.length;
  }
}

/** Four bytes may look like the begin of a member. */
async function* untilDamage(bytes: Buffer): AsyncGenerator<Buffer> {
  try {
    yield* unpacked(Readable.from([bytes]), createInflateRaw());
  } catch {}
}
