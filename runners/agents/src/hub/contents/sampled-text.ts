// What binary content may hold, from its bytes alone. Whether a file that looks like weights, images or sound holds text
// instead shows in some of its blocks: reading hundreds of megabytes would take minutes.
import type { FileHandle } from "node:fs/promises";
import { contentKind } from "./content-kind.ts";

const blocks = 64;
const blockBytes = 4096;
/** Of machine code, whose names of functions are text: its libraries have up to a tenth. Weights have none. */
const codeShareMax = 1 / 4;

/** Where the values of weights begin: their header is text, and searched by other means. 0 for media. */
export function valuesBegin(head: Buffer): number {
  return contentKind(head) === "safetensors" ? 8 + Number(head.readBigUInt64LE()) : 0;
}

export async function samplesHoldText(file: FileHandle, head: Buffer): Promise<boolean> {
  const from = valuesBegin(head);
  const room = (await file.stat()).size - from - blockBytes;
  let texts = 0;
  for (let block = 0; block < blocks; block++) {
    const at = from + Math.max(0, Math.floor((room * block) / (blocks - 1)));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(blockBytes), 0, blockBytes, at);
    if (isText(buffer.subarray(0, bytesRead))) texts++;
  }
  return texts > (from === 0 ? codeShareMax * blocks : 0);
}

/** Random bytes have 24 % letters and digits, numbers of a type fewer than half, or few different ones. */
function isText(bytes: Buffer): boolean {
  const text = bytes.filter((byte) => byte !== 0).toString(); // UTF-16 too
  const letters = text.match(/[\p{L}\p{N}]/gu) ?? [];
  return letters.length > 0.6 * text.length && new Set(letters).size >= 15;
}

/** Bits for each byte: of 16 kB, compressed text has 7.986. Weights in four bits have 7.77, even tokens 7.94. */
const packedBitsMin = 7.97;
const packedBytesMin = 16 << 10;

/** Whether bytes are as even as only compressed and encrypted ones are. */
export function looksPacked(bytes: Buffer): boolean {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte]!++;
  const bits = (count: number) => (count === 0 ? 0 : -count * Math.log2(count / bytes.length));
  return (
    bytes.length >= packedBytesMin &&
    counts.reduce((sum, count) => sum + bits(count), 0) > packedBitsMin * bytes.length
  );
}
