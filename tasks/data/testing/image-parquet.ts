// Parquet as the hub keeps images: a struct of bytes and path, an id, and a label that is a whole number.
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

/** A PNG by its first bytes; nothing here decodes it. */
export function toyImages(split: string, count: number): HubImage[] {
  return Array.from({ length: count }, (_, at) => ({
    image: { bytes: Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff, at]), path: null },
    image_id: `${split}_${at}`,
    label: at % 3,
  }));
}
