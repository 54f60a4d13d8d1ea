// Which binary content is weights, whose values are not searched as text.
import { open } from "node:fs/promises";
import { isTable } from "@mlrb/formats/is-table";
import { type ContentKind, contentKind } from "./content-kind.ts";

/** The text of a JSON header whose tensors end where the file ends; undefined if the file does not hold weights. */
export async function weightsHeader(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const length = Number((await file.read(Buffer.alloc(8), 0, 8, 0)).buffer.readBigUInt64LE());
    if (8 + length > size) return undefined;
    const header = (await file.read(Buffer.alloc(length), 0, length, 8)).buffer.toString();
    return tensorBytes(header) === size - 8 - length ? header : undefined;
  } finally {
    await file.close();
  }
}

/** Where the last tensor ends; undefined if the text is no header. */
function tensorBytes(header: string): number | undefined {
  try {
    const { __metadata__: _, ...tensors } = JSON.parse(header) as Record<string, unknown>;
    const ends = Object.values(tensors).map((tensor) =>
      isTable(tensor) && Array.isArray(tensor.data_offsets) ? Number(tensor.data_offsets[1]) : Number.NaN,
    );
    return ends.reduce((last, end) => Math.max(last, end), 0);
  } catch {
    return undefined;
  }
}

/**
 * A value of a checkpoint of torch, after its pickle: not searched where it is binary, as in safetensors. Searching
 * numbers as text has 3 to 5 MB/s.
 */
export function kindOfTensor(head: Buffer): ContentKind {
  const kind = contentKind(head);
  return kind === "binary" || kind === "safetensors" ? "media" : kind;
}
