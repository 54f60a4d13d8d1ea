// The n-grams of words of scored rows, as hashes: what the texts of an attempt are compared with. It holds no text.
import type { OverlapMeasure } from "@mlrb/formats/judged/overlap";
import { between, Prefix } from "../hub/contents/withheld-rows.ts";
import { type WordHash, WordReader } from "../hub/contents/words.ts";

/** A row of which more than this share is given to agents is not tested: the rest may follow from a template. */
const givenShareMax = 0.5;

type Row = { ngrams: number; all: number };

export class NgramIndex {
  /** Lengths in words: n, and those of shorter texts. */
  readonly lengths: readonly number[];
  readonly #rowsOf = new Map<number, number[]>();
  /** Different n-grams of each row: those that count, and all. */
  readonly #rows: Row[] = [];

  /** Each row is the list of its texts. An n-gram never spans two texts; a text shorter than n is one n-gram. */
  constructor(rows: Iterable<readonly string[]>, { n, wordsMin, rowsMax }: Omit<OverlapMeasure, "share">) {
    const lengths = new Set([n]);
    for (const texts of rows) {
      const own = new Set<number>();
      for (const text of texts) {
        const words = wordsOf(text);
        if (words < wordsMin) continue;
        const length = Math.min(n, words);
        lengths.add(length);
        const reader = new NgramReader([length], (ngram) => own.add(ngram));
        reader.push(text);
        reader.end();
      }
      for (const ngram of own) this.#rowsOf.getOrInsertComputed(ngram, () => []).push(this.#rows.length);
      this.#rows.push({ ngrams: own.size, all: own.size });
    }
    this.lengths = [...lengths].sort((a, b) => a - b);
    // a phrase of many rows, e.g. of their instruction, shows none of them
    for (const [ngram, own] of [...this.#rowsOf]) if (own.length > rowsMax) this.leaveOut(ngram);
  }

  /** Leaves out an n-gram that agents are given, e.g. in the public data. */
  leaveOut(ngram: number): void {
    for (const row of this.#rowsOf.get(ngram) ?? []) this.#rows[row]!.ngrams--;
    this.#rowsOf.delete(ngram);
  }

  has(ngram: number): boolean {
    return this.#rowsOf.has(ngram);
  }

  rowCounts(): { all: number; tested: number } {
    return { all: this.#rows.length, tested: this.#rows.filter(isTested).length };
  }

  /** The share of each tested row's n-grams that is among `found`, of rows with any, by row. */
  sharesOf(found: Iterable<number>): Map<number, number> {
    const counts = new Map<number, number>();
    for (const ngram of found)
      for (const row of this.#rowsOf.get(ngram) ?? []) counts.set(row, (counts.get(row) ?? 0) + 1);
    const tested = [...counts].filter(([row]) => isTested(this.#rows[row]!));
    return new Map(tested.map(([row, count]) => [row, count / this.#rows[row]!.ngrams]));
  }
}

function isTested({ ngrams, all }: Row): boolean {
  return ngrams > 0 && ngrams >= (1 - givenShareMax) * all;
}

function wordsOf(text: string): number {
  let words = 0;
  const reader = new WordReader(() => words++);
  reader.push(text);
  reader.end();
  return words;
}

/** Gives each n-gram of these lengths of a text that comes in pieces, as 53 bits. */
export class NgramReader {
  readonly #words: WordReader;
  readonly #lengths: readonly number[];
  /** The states before each of the last words, as a ring. */
  readonly #before: Prefix[];
  readonly #state = new Prefix();
  #at = 0;

  constructor(lengths: readonly number[], give: (ngram: number) => void, { resolvesEscapes = false } = {}) {
    this.#lengths = lengths;
    this.#before = Array.from({ length: Math.max(...lengths) }, () => new Prefix());
    this.#words = new WordReader((word) => this.#add(word, give), { resolvesEscapes });
  }

  push(piece: string): void {
    this.#words.push(piece);
  }

  /** Ends a text: the next piece begins another. */
  end(): void {
    this.#words.end();
    this.#at = 0;
  }

  #add(word: WordHash, give: (ngram: number) => void): void {
    const room = this.#before.length;
    this.#before[this.#at % room]!.take(this.#state);
    this.#state.add(word);
    this.#at++;
    for (const length of this.#lengths) {
      if (this.#at < length) return;
      const [one, two] = between(this.#before[(this.#at - length) % room]!, this.#state, length);
      give((one >>> 0) * 2 ** 21 + (two >>> 11));
    }
  }
}
