// What content is, from its first bytes. Names and types of the sender are never asked: they may lie.

export const peekBytes = 1 << 16;

/** As the library of safetensors has it. */
const safetensorsHeaderMax = 100_000_000n;

export type ContentKind =
  /** Opened, and its content looked at. */
  | "gzip"
  /** As Git keeps its objects. */
  | "zlib"
  | "zstd"
  | "tar"
  | "zip"
  | "parquet"
  /** Could hold anything, and cannot be opened here. */
  | "closed-archive"
  /** By the first bytes; the whole file shows whether it is. */
  | "safetensors"
  /** Machine code, images, sound and films. */
  | "media"
  | "utf-16"
  | "text"
  | "binary";

const closed = [
  "BZh",
  "\xfd7zXZ\0",
  "7z\xbc\xaf\x27\x1c",
  "Rar!\x1a\x07",
  "\x04\x22\x4d\x18",
  "\x5d\0\0\x80\0",
  "MSCF",
];
const media = ["\x7fELF", "\x89PNG", "\xff\xd8\xff", "GIF8", "fLaC", "OggS", "ID3"];

export function contentKind(head: Buffer): ContentKind {
  const begin = head.toString("latin1", 0, 600);
  if (begin.startsWith("\x1f\x8b")) return "gzip";
  if (begin.startsWith("\x28\xb5\x2f\xfd")) return "zstd";
  if (/^\x78[\x01\x9c\xda]/.test(begin)) return "zlib";
  if (begin.startsWith("PK\x03\x04") || begin.startsWith("PK\x05\x06")) return "zip";
  if (begin.startsWith("PAR1")) return "parquet";
  if (begin.slice(257, 262) === "ustar") return "tar";
  if (closed.some((magic) => begin.startsWith(magic))) return "closed-archive";
  // every real medium has a zero byte near its begin; a text may begin with the same letters
  if (isMedium(begin) && head.includes(0)) return "media";
  // UTF-32, which no library here reads
  if (begin.startsWith("\xff\xfe\0\0") || begin.startsWith("\0\0\xfe\xff")) return "binary";
  if (begin.startsWith("\xff\xfe") || begin.startsWith("\xfe\xff")) return "utf-16";
  if (!head.includes(0)) return "text";
  if (head.length > 8 && head.readBigUInt64LE() <= safetensorsHeaderMax && begin[8] === "{")
    return "safetensors";
  return halfZeros(head) ? "utf-16" : "binary";
}

function isMedium(begin: string): boolean {
  if (media.some((magic) => begin.startsWith(magic)) || begin.slice(4, 8) === "ftyp") return true;
  return begin.startsWith("RIFF") && ["WAVE", "WEBP"].includes(begin.slice(8, 12));
}

/** Latin text in two bytes for each character, without a mark. */
function halfZeros(head: Buffer): boolean {
  const odd = head.filter((byte, at) => at % 2 === 1 && byte === 0).length;
  const even = head.filter((byte, at) => at % 2 === 0 && byte === 0).length;
  const half = head.length / 2;
  return (odd > 0.7 * half && even < 0.1 * half) || (even > 0.7 * half && odd < 0.1 * half);
}
