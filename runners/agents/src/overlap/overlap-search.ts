// Compares the texts of one place, e.g. a file of the workspace, with the n-grams of scored rows.
import { type NgramIndex, NgramReader } from "./ngram-index.ts";

export class OverlapSearch {
  /** The n-grams that were found, each once. */
  readonly found: Set<number>;
  readonly #readers: NgramReader[];

  /** Searches of one place share `found`. */
  constructor(index: NgramIndex, found = new Set<number>()) {
    this.found = found;
    const note = (ngram: number) => {
      if (index.has(ngram)) this.found.add(ngram);
    };
    this.#readers = [false, true].map(
      (resolvesEscapes) => new NgramReader(index.lengths, note, { resolvesEscapes }),
    );
  }

  push(piece: string): void {
    for (const reader of this.#readers) reader.push(piece);
  }

  /** Ends a text: no n-gram spans two of them. */
  end(): void {
    for (const reader of this.#readers) reader.end();
  }
}
