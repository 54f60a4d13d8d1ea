// Writes an evidence bundle from a folder, in the layout that verify-archive checks. One piece of a file is in memory.
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { BundledFile, EvidenceBundle } from "@mlrb/formats/report/evidence-bundle";
import { processName } from "@mlrb/kit/processes/process-name";
import type { Problem, Signature } from "@mlrb/local/signatures/ssh-signature";
import {
  block,
  chunkBytesOf,
  chunkDigest,
  endBytes,
  fileBytesMax,
  headerOf,
  isBundlePath,
  listName,
  listText,
  paddingBytes,
  sealName,
  sealText,
  sha256Of,
  signatureBytes,
  signatureName,
} from "./archive-layout.ts";
import type { ArchiveBytes } from "./verify-archive.ts";

/** What was replaced in a file, by its path. */
export type Redactions = ReadonlyMap<string, NonNullable<BundledFile["redacted"]>>;

/** The list's entry of a file in `folder`. Throws where the name or the size does not fit an archive. */
export function bundledFile(folder: string, path: string, redactions: Redactions): BundledFile {
  if (!isBundlePath(path)) throw new Error(`bug: ${path} is no name of a bundled file`);
  const file = openSync(join(folder, path), "r");
  try {
    const { size } = fstatSync(file);
    if (size > fileBytesMax) throw new Error(`${path} has ${size} bytes, over ${fileBytesMax}`);
    const chunkBytes = chunkBytesOf(size);
    const whole = createHash("sha256");
    const chunks: string[] = [];
    for (let at = 0; at < size; at += chunkBytes) {
      const piece = readPiece(file, at, chunkBytes);
      whole.update(piece);
      chunks.push(chunkDigest(piece));
    }
    const redacted = redactions.get(path);
    return {
      path,
      bytes: size,
      sha256: whole.digest("hex"),
      chunks,
      chunkBytes,
      ...(redacted && { redacted }),
    };
  } finally {
    closeSync(file);
  }
}

type Written = { bundle: EvidenceBundle; folder: string; sign?: (digest: string) => Signature };

/**
 * Writes `to`, whole or not at all. `sign` gets the digest of the list. Returns a problem of the signature; then nothing
 * is written.
 */
export function writeArchive(to: string, { bundle, folder, sign }: Written): Problem | undefined {
  const list = Buffer.from(listText(bundle));
  const signed = sign?.(sha256Of(list));
  if (signed?.kind === "refused") return signed;
  const signature = signed && Buffer.from(signed.text.padEnd(signatureBytes, "\n"), "latin1");
  if (signature && signature.length > signatureBytes)
    throw new Error(`the signature has ${signature.length} bytes, over ${signatureBytes}: use another key`);
  const seal = Buffer.from(sealText(list, signature));
  const temporary = `${to}.${processName}.tmp`;
  const file = openSync(temporary, "wx", 0o600);
  try {
    const put = (name: string, content: Buffer) => {
      writeWhole(file, headerOf(name, content.length));
      writeWhole(file, content);
      writeWhole(file, Buffer.alloc(paddingBytes(content.length)));
    };
    put(listName, list);
    put(sealName, seal);
    if (signature) put(signatureName, signature);
    for (const { path, bytes } of bundle.files) {
      writeWhole(file, headerOf(path, bytes));
      copyInto(file, join(folder, path), bytes);
      writeWhole(file, Buffer.alloc(paddingBytes(bytes)));
    }
    writeWhole(file, Buffer.alloc(endBytes));
    renameSync(temporary, to);
    return undefined;
  } finally {
    closeSync(file);
    rmSync(temporary, { force: true });
  }
}

/** An archive on disk, and how to close it. */
export function openArchive(path: string): ArchiveBytes & { close: () => void } {
  const file = openSync(path, "r");
  const { size } = fstatSync(file);
  return { size, read: (from, length) => readPiece(file, from, length), close: () => closeSync(file) };
}

const pieceBytes = block << 11;

function copyInto(to: number, path: string, bytes: number): void {
  const from = openSync(path, "r");
  try {
    for (let at = 0; at < bytes; at += pieceBytes)
      writeWhole(to, readPiece(from, at, Math.min(pieceBytes, bytes - at)));
  } finally {
    closeSync(from);
  }
}

/** Fewer bytes at the end of the file. */
function readPiece(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, length));
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(file, bytes, done, bytes.length - done, from + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

function writeWhole(file: number, bytes: Buffer): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done);
}
