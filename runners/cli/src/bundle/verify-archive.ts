// Compares each byte of an evidence bundle with what its list says, and names the places that differ.
import { createHash } from "node:crypto";
import { readFormat, unreadableWords } from "@mlrb/formats/read-format";
import { type EvidenceBundle, evidenceBundle } from "@mlrb/formats/report/evidence-bundle";
import {
  block,
  chunkBytesOf,
  chunkDigest,
  type Entry,
  endBytes,
  headerOf,
  isBundlePath,
  layoutOf,
  listName,
  paddingBytes,
  sealName,
  sealText,
  sha256Of,
  signatureBytes,
  signatureName,
} from "./archive-layout.ts";

/** An archive: `read` returns fewer bytes at its end. */
export type ArchiveBytes = { size: number; read: (from: number, length: number) => Buffer };

/** Bytes `from` to `to`, without `to`, of the archive differ; `where` says which bytes of `file` they are. */
export type Difference = { file: string; where: string; from: number; to: number };

export type Verified =
  /** `signature`: a text; undefined for an unsigned bundle. */
  | {
      kind: "read";
      bundle: EvidenceBundle;
      entries: Entry[];
      differences: Difference[];
      digest: string;
      signature: string | undefined;
    }
  /** The list itself is damaged, so the rest cannot be checked. */
  | { kind: "unreadable"; cause: string; differences: Difference[] };

const listBytesMax = 256 << 20;

export function verifyArchive(archive: ArchiveBytes): Verified {
  const bytes = listBytes(archive);
  if (bytes === undefined)
    return { kind: "unreadable", cause: `there is no ${listName} at its beginning`, differences: [] };
  const list = archive.read(block, bytes);
  const reading = readFormat(evidenceBundle, list.toString("utf8"));
  const problem = reading.kind === "ok" ? pathProblem(reading.value) : unreadableWords(reading);
  const sealAt = block + bytes + paddingBytes(bytes);
  // a list that cannot be read does not say whether it is signed
  const signed = reading.kind === "ok" ? reading.value.signed : hasSignature(archive, { list, sealAt });
  const sealBytes = sealText(list, signed ? Buffer.alloc(0) : undefined).length;
  const head = [
    { name: listName, bytes },
    { name: sealName, bytes: sealBytes },
    ...(signed ? [{ name: signatureName, bytes: signatureBytes }] : []),
  ];
  const files = reading.kind === "ok" && problem === undefined ? reading.value.files : [];
  const layout = layoutOf([...head, ...files.map((file) => ({ name: file.path, bytes: file.bytes, file }))]);
  const signatureEntry = signed ? layout.entries[2] : undefined;
  const signature = signatureEntry && archive.read(signatureEntry.contentAt, signatureEntry.bytes);
  const sealed = sealDifferences(archive, { list, signature, entries: layout.entries });
  const listChanged = sealed.some(({ file }) => file === listName);
  if (reading.kind !== "ok" || problem !== undefined || listChanged) {
    const cause =
      problem === undefined ? `${listName} was changed` : `${listName} cannot be read (${problem})`;
    const framed = layout.entries.slice(0, 2).flatMap((entry) => frameDifferences(archive, entry));
    return { kind: "unreadable", cause, differences: [...framed, ...sealed] };
  }
  const differences = [
    ...layout.entries.flatMap((entry) => [
      ...frameDifferences(archive, entry),
      ...contentDifferences(archive, entry),
    ]),
    ...sealed,
    ...endDifferences(archive, layout.size),
  ].sort((a, b) => a.from - b.from);
  return {
    ...{ kind: "read", bundle: reading.value, entries: layout.entries, differences },
    digest: sha256Of(list),
    signature: signature?.toString("latin1").trimEnd(),
  };
}

/** Names come from another person's file. */
function pathProblem({ files }: EvidenceBundle): string | undefined {
  const bad = files.find(({ path }) => !isBundlePath(path));
  if (bad) return `${JSON.stringify(bad.path.slice(0, 200))} is no name of a bundled file`;
  if (new Set(files.map(({ path }) => path)).size < files.length) return "it lists a file twice";
  const odd = files.find(
    ({ bytes, chunks, chunkBytes }) =>
      chunkBytes !== chunkBytesOf(bytes) || chunks.length !== Math.ceil(bytes / chunkBytes),
  );
  return odd && `${odd.path} does not have a digest for each piece`;
}

/** The size of the list: from its header, or from the place of the next header if its own is damaged. */
function listBytes(archive: ArchiveBytes): number | undefined {
  const header = archive.read(0, block);
  const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
  if (Number.isSafeInteger(size) && header.equals(headerOf(listName, size)))
    return size <= Math.min(listBytesMax, archive.size) ? size : undefined;
  const name = Buffer.from(`${sealName}\0`, "latin1");
  for (let at = 2 * block; at < Math.min(archive.size, listBytesMax); at += block) {
    if (!archive.read(at, name.length).equals(name)) continue;
    const end = archive.read(block, at - block).lastIndexOf("}\n");
    return end < 0 ? undefined : end + 2;
  }
  return undefined;
}

function hasSignature(archive: ArchiveBytes, { list, sealAt }: { list: Buffer; sealAt: number }): boolean {
  const bytes = sealText(list, Buffer.alloc(0)).length;
  const header = archive.read(sealAt + block + bytes + paddingBytes(bytes), block);
  return header.equals(headerOf(signatureName, signatureBytes));
}

type Sealed = { list: Buffer; signature: Buffer | undefined; entries: Entry[] };

/** The list and the signature against the seal; the seal against its own last line. */
function sealDifferences(archive: ArchiveBytes, { list, signature, entries }: Sealed): Difference[] {
  const [listEntry, sealEntry, signatureEntry] = entries;
  const expected = sealText(list, signature);
  const actual = archive.read(sealEntry!.contentAt, sealEntry!.bytes).toString("latin1");
  if (actual === expected) return [];
  const lines = actual.split("\n");
  const above = lines
    .slice(0, -2)
    .map((line) => `${line}\n`)
    .join("");
  const isWhole = `${above}${sha256Of(above)}  the lines above\n` === actual;
  if (!isWhole)
    return [
      differing(sealEntry!, { expected: Buffer.from(expected), actual: Buffer.from(actual, "latin1") }),
    ];
  const wanted = expected.split("\n");
  const changed = wanted.flatMap((line, at) => (line === lines[at] ? [] : [at])).slice(0, -1);
  const size = chunkBytesOf(list.length);
  const pieces = Math.ceil(list.length / size);
  const found = changed.flatMap((at) => {
    if (at > pieces) return [differenceAt(signatureEntry!, 0, signatureBytes)];
    return at === 0 ? [] : [differenceAt(listEntry!, (at - 1) * size, at * size)];
  });
  return found.length > 0 ? found : [differenceAt(listEntry!, 0, list.length)];
}

/** The header, and the zeros after the content: each byte has one right value. */
function frameDifferences(archive: ArchiveBytes, entry: Entry): Difference[] {
  const { name, bytes, headerAt, contentAt } = entry;
  const padding = paddingBytes(bytes);
  const frames = [
    { part: "its tar header", at: headerAt, expected: headerOf(name, bytes) },
    { part: "the padding after it", at: contentAt + bytes, expected: Buffer.alloc(padding) },
  ];
  return frames.flatMap(({ part, at, expected }) => {
    const range = differentRange(expected, archive.read(at, expected.length));
    if (!range) return [];
    return [{ file: name, where: `in ${part}`, from: at + range.from, to: at + range.to }];
  });
}

function contentDifferences(archive: ArchiveBytes, entry: Entry): Difference[] {
  const { file, bytes, contentAt } = entry;
  if (!file) return [];
  const whole = createHash("sha256");
  const found: Difference[] = [];
  for (const [index, chunk] of file.chunks.entries()) {
    const from = index * file.chunkBytes;
    const to = Math.min(bytes, from + file.chunkBytes);
    const piece = archive.read(contentAt + from, to - from);
    whole.update(piece);
    if (chunkDigest(piece) === chunk) continue;
    const last = found.at(-1);
    if (last?.to === contentAt + from) found.splice(-1, 1, differenceAt(entry, last.from - contentAt, to));
    else found.push(differenceAt(entry, from, to));
  }
  if (found.length === 0 && whole.digest("hex") !== file.sha256) return [differenceAt(entry, 0, bytes)];
  return found;
}

function endDifferences(archive: ArchiveBytes, size: number): Difference[] {
  const at = size - endBytes;
  const range = differentRange(Buffer.alloc(endBytes), archive.read(at, endBytes));
  const end = "the end of the archive";
  return [
    ...(range ? [{ file: end, where: "in its empty blocks", from: at + range.from, to: at + range.to }] : []),
    ...(archive.size > size ? [{ file: end, where: "after it", from: size, to: archive.size }] : []),
  ];
}

function differing(entry: Entry, { expected, actual }: { expected: Buffer; actual: Buffer }): Difference {
  const { from, to } = differentRange(expected, actual)!;
  return differenceAt(entry, from, to);
}

/** Bytes `from` to `to` of the entry's content. */
function differenceAt({ name, bytes, contentAt }: Entry, from: number, to: number): Difference {
  const end = Math.min(to, bytes);
  const where = end - from === 1 ? `byte ${from}` : `within bytes ${from} to ${end - 1}`;
  return { file: name, where, from: contentAt + from, to: contentAt + end };
}

/** The first and the last different byte; a missing byte is different. */
function differentRange(expected: Buffer, actual: Buffer): { from: number; to: number } | undefined {
  if (expected.equals(actual)) return undefined;
  let from = 0;
  while (from < actual.length && expected[from] === actual[from]) from++;
  let to = expected.length;
  while (actual.length === expected.length && expected[to - 1] === actual[to - 1]) to--;
  return { from, to };
}
