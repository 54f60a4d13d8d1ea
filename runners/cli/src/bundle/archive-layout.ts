// Where each byte of an evidence bundle is. The archive is a plain tar without compression. Its layout follows from
// bundle.json, so each byte of the archive has one expected value or a digest, and a changed byte has a place.
// Pure: no disk, no clock.
import { hash } from "node:crypto";
import type { BundledFile, EvidenceBundle } from "@mlrb/formats/report/evidence-bundle";
import { canonicalJson } from "@mlrb/kit/json-file";

export const listName = "bundle.json";
export const sealName = "bundle.sha256";
export const signatureName = "bundle.sig";

export const block = 512;
/** Two empty blocks end a tar archive. */
export const endBytes = 2 * block;

/** An SSH signature with line breaks after it: the layout does not depend on the kind of key. */
export const signatureBytes = 4096;

/** A tar header has 11 octal digits for a size. */
export const fileBytesMax = 8 ** 11 - 1;

/** The names of bundled files: no name leads out of a folder, and each fits a tar header. */
const pathPattern = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.+=-]+(?:\/[\w.+=-]+){0,3}$/;

export function isBundlePath(path: string): boolean {
  return path.length < 100 && pathPattern.test(path) && ![listName, sealName, signatureName].includes(path);
}

/** A header of POSIX tar. It names no user and no time, so the same files give the same bytes. */
export function headerOf(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(block);
  const put = (at: number, text: string) => header.write(text, at, "latin1");
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  put(0, name);
  put(100, `${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`); // mode, user, group
  put(124, `${octal(bytes, 11)}\0${octal(0, 11)}\0`); // size, time
  put(148, "        0"); // the checksum counts as spaces; a regular file
  put(257, "ustar\x0000");
  put(
    148,
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
  );
  return header;
}

/** The bytes after a content up to the next header. */
export function paddingBytes(bytes: number): number {
  return (block - (bytes % block)) % block;
}

export function sha256Of(content: Buffer | string): string {
  return hash("sha256", content);
}

export function chunkDigest(chunk: Buffer): string {
  return sha256Of(chunk).slice(0, 16);
}

/** At most 64 pieces for each file, and none under 4 KiB: the list stays small next to large trajectories. */
export function chunkBytesOf(bytes: number): number {
  let size = 4096;
  while (size * 64 < bytes) size *= 2;
  return size;
}

function chunksOf(content: Buffer): string[] {
  const size = chunkBytesOf(content.length);
  const chunks: string[] = [];
  for (let at = 0; at < content.length; at += size) chunks.push(chunkDigest(content.subarray(at, at + size)));
  return chunks;
}

/** bundle.json, whole. */
export function listText(bundle: EvidenceBundle): string {
  return `${canonicalJson(bundle, 1)}\n`;
}

/** bundle.sha256: digests of the list and of its signature, then the digest of the lines above. */
export function sealText(list: Buffer, signature: Buffer | undefined): string {
  const lines = [
    `${sha256Of(list)}  ${listName}`,
    ...chunksOf(list).map((chunk, at) => `${chunk}  ${listName} from byte ${at * chunkBytesOf(list.length)}`),
    ...(signature ? [`${sha256Of(signature)}  ${signatureName}`] : []),
  ];
  const above = lines.map((line) => `${line}\n`).join("");
  return `${above}${sha256Of(above)}  the lines above\n`;
}

export type Entry = { name: string; headerAt: number; contentAt: number; bytes: number; file?: BundledFile };

/** Places of the entries, and the size of the whole archive. */
export function layoutOf(parts: readonly { name: string; bytes: number; file?: BundledFile }[]): {
  entries: Entry[];
  size: number;
} {
  let at = 0;
  const entries = parts.map((part): Entry => {
    const entry = { ...part, headerAt: at, contentAt: at + block };
    at += block + part.bytes + paddingBytes(part.bytes);
    return entry;
  });
  return { entries, size: at + endBytes };
}
