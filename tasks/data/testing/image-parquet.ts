// Parquet as the hub keeps images: a struct of bytes and path, an id, and a label that is a whole number.
import { crc32, deflateSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";

export type HubImage = { image: { bytes: Uint8Array; path: string | null }; image_id: string; label: number };

export function imageParquet(images: HubImage[], column: string): Buffer {
  const optional = { repetition_type: "OPTIONAL" } as const;
  const word = { type: "BYTE_ARRAY", converted_type: "UTF8", ...optional } as const;
  const columnData = [
    { name: "image", data: images.map(({ image }) => image) },
    { name: "image_id", data: images.map(({ image_id }) => image_id) },
    { name: column, data: images.map(({ label }) => BigInt(label)) },
  ];
  const schema = [
    { name: "root", num_children: 3 },
    { name: "image", num_children: 2, ...optional },
    { name: "bytes", type: "BYTE_ARRAY", ...optional } as const,
    { name: "path", ...word },
    { name: "image_id", ...word },
    { name: column, type: "INT64", ...optional } as const,
  ];
  return Buffer.from(parquetWriteBuffer({ columnData, schema }));
}

/** PNG files. The label is the brightest of the three colours. */
export function toyImages(split: string, count: number): HubImage[] {
  return Array.from({ length: count }, (_, at) => {
    const label = at % 3;
    const colour = [0, 1, 2].map((channel) => (channel === label ? 200 : 20) + at);
    return { image: { bytes: pngFile(colour, 8), path: null }, image_id: `${split}_${at}`, label };
  });
}

/** A square of one colour: 8 bits, RGB, no filter (PNG specification, sections 5 and 11). */
function pngFile(colour: number[], size: number): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = [0, ...Array.from({ length: size }, () => colour).flat()];
  const pixels = Buffer.from(Array.from({ length: size }, () => row).flat());
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(pixels)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const chunk = Buffer.alloc(named.length + 8);
  chunk.writeUInt32BE(content.length, 0);
  named.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(named), named.length + 4);
  return chunk;
}
